import { answerWebRequest } from "@/server/api/api-request";
import { ALIVE } from "@/server/api/health-answers";

/** Liveness: the process answers. serve.ts answers it without Next. */
export function GET(request: Request): Promise<Response> {
  return answerWebRequest(request, async () => ALIVE);
}
