import { answerLinkCall } from "@/app/api/link-call";
import { readPasswordLink } from "@/server/catalog/organization/reset-password";

/** Returns the email of the person whose password a link sets. */
export function POST(request: Request): Promise<Response> {
  return answerLinkCall(request, (services, { token }) => readPasswordLink(services, token));
}
