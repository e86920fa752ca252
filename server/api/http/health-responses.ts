import { checkReadiness } from "@/server/operate/health";
import type { ApiResponse } from "./api-request";
import { JSON_HEADERS } from "./respond";

/** `/api/health`: the process is alive. */
export const ALIVE: ApiResponse = { status: 200, headers: JSON_HEADERS, body: '{"alive":true}' };

/** `/api/ready`: 200 if the process can serve, else 503, with the state of each part. */
export async function readinessResponse(
  services: Parameters<typeof checkReadiness>[0],
  state = { stopping: false },
): Promise<ApiResponse> {
  const report = await checkReadiness(services);
  const ready = report.ready && !state.stopping;
  return { status: ready ? 200 : 503, headers: JSON_HEADERS, body: JSON.stringify({ ...report, ready }) };
}
