import { answerLinkCall } from "@/app/api/link-call";
import { setUp } from "@/server/catalog/organization/set-up";

export function POST(request: Request): Promise<Response> {
  return answerLinkCall(request, (services, { token, input }) => setUp(services, { token, input }));
}
