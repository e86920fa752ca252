import { respondToWebRequest } from "@/server/api/api-request";
import { ALIVE } from "@/server/api/health-responses";

/** Liveness: the process answers. serve.ts answers it without Next. */
export function GET(request: Request): Promise<Response> {
  return respondToWebRequest(request, async () => ALIVE);
}
