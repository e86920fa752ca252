import { getServices } from "@/process-services";
import { respondToWebRequest } from "@/server/api/http/api-request";
import { respondToMetrics } from "@/server/api/metrics";

/** A scrape by Prometheus. serve.ts answers it without Next. */
export function GET(request: Request): Promise<Response> {
  return respondToWebRequest(request, (call) => respondToMetrics(getServices(), call));
}
