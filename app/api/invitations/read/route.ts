import { readInvitation } from "@/server/catalog/organization/accept-invitation";
import { answerInvitation } from "../answer";

/**
 * The person and the organization of an invitation, for the holder of the link. The token is in the body: addresses are
 * logged.
 */
export function POST(request: Request): Promise<Response> {
  return answerInvitation(request, (services, { token }) => readInvitation(services, token));
}
