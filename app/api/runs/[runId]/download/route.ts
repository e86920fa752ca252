import { memberForRoute, refuseRoute } from "@/app/request";
import { getServices } from "@/process-services";
import { isUuid } from "@/server/ids";
import { queueDashboardCall } from "@/server/limits/dashboard-queue";
import { readCompleteRun } from "@/server/runs/read/export";

/** A run with all its steps and model calls, as one JSON file. */
export async function GET(
  request: Request,
  { params }: { params: Promise<{ runId: string }> },
): Promise<Response> {
  const services = getServices();
  const found = await memberForRoute(services, request);
  if ("refusal" in found) return found.refusal;
  const { runId } = await params;
  const { actor } = found;
  const work = () => readCompleteRun(services, actor, runId);
  const { signal } = request;
  const run = isUuid(runId) ? await queueDashboardCall(services, actor.orgId, { work, signal }) : null;
  if (!run) return refuseRoute("not_found", `There is no run ${runId} in this organization.`);
  return new Response(`${JSON.stringify(run, null, 2)}\n`, {
    headers: {
      "content-type": "application/json; charset=utf-8",
      "x-content-type-options": "nosniff",
      "cache-control": "private, no-store",
      "content-disposition": `attachment; filename="run-${runId}.json"`,
    },
  });
}
