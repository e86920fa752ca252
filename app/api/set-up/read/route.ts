import { answerLinkCall } from "@/app/api/link-call";
import { readSetUp } from "@/server/catalog/organization/set-up";

export function POST(request: Request): Promise<Response> {
  return answerLinkCall(request, (services, { token }) => readSetUp(services, token));
}
