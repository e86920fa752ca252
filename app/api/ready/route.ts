import { answerWebRequest } from "@/server/api/api-request";
import { answerReadiness } from "@/server/api/health-answers";
import { getServices } from "@/wiring";

/** Readiness: the process can serve. serve.ts answers it without Next. */
export function GET(request: Request): Promise<Response> {
  return answerWebRequest(request, () => answerReadiness(getServices()));
}
