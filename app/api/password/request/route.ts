import { z } from "zod";
import { answerOpenCall } from "@/app/api/open-call";
import { requestPasswordLink } from "@/server/catalog/organization/password-links";

const body = z.object({ email: z.email().max(254).toLowerCase() });
const CALL = { name: "password-request", body, needs: "An email address is required." };

/** Sends a link for a new password. The answer is the same for every email. */
export function POST(request: Request): Promise<Response> {
  return answerOpenCall(request, CALL, async (services, { email }, clientAddress) => {
    await requestPasswordLink(services, { email, clientAddress });
    return {};
  });
}
