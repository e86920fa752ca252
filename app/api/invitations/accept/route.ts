import { sessionFromHeaders } from "@/server/catalog/auth/sessions";
import { acceptInvitation } from "@/server/catalog/organization/accept-invitation";
import { answerInvitation } from "../answer";

/** Makes the invited person a member: a new account, or the one that is signed in. */
export function POST(request: Request): Promise<Response> {
  return answerInvitation(request, async (services, { token, account }) => {
    const user = (await sessionFromHeaders(services, request.headers))?.user;
    const session = user ? { id: user.sessionId, userId: user.id } : null;
    return acceptInvitation(services, { token, session, account });
  });
}
