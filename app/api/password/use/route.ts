import { answerLinkCall } from "@/app/api/link-call";
import { resetPassword } from "@/server/catalog/organization/reset-password";

export function POST(request: Request): Promise<Response> {
  return answerLinkCall(request, (services, { token, input }) => resetPassword(services, { token, input }));
}
