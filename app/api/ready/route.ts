import { getServices } from "@/process-services";
import { respondToWebRequest } from "@/server/api/http/api-request";
import { readinessResponse } from "@/server/api/http/respond";

/** Readiness: the process can serve. serve.ts answers it without Next. */
export function GET(request: Request): Promise<Response> {
  return respondToWebRequest(request, () => readinessResponse(getServices()));
}
