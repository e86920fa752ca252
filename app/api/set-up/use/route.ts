import { answerLinkCall } from "@/app/api/link-call";
import { setUp } from "@/server/catalog/organization/set-up";

/** Creates the first organization and its owner. */
export function POST(request: Request): Promise<Response> {
  return answerLinkCall(request, (services, { token, input }) => setUp(services, { token, input }));
}
