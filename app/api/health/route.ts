import { respondToWebRequest } from "@/server/api/http/api-request";
import { ALIVE } from "@/server/api/http/respond";

/** Liveness: the process answers. serve.ts answers it without Next. */
export function GET(request: Request): Promise<Response> {
  return respondToWebRequest(request, async () => ALIVE);
}
