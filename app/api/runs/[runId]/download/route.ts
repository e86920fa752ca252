import { privateResponse, runRoute } from "@/app/api/handlers";
import { JSON_TYPE } from "@/server/contract/media-types";
import { queueDashboardCall } from "@/server/guard/limits/dashboard-queue";
import { readCompleteRun } from "@/server/runs/read/export";

export const GET = runRoute(async ({ services, request: { signal }, actor, runId }) => {
  const work = () => readCompleteRun(services, actor, runId);
  const run = await queueDashboardCall(services, actor.orgId, { work, signal });
  return (
    run &&
    privateResponse(`${JSON.stringify(run, null, 2)}\n`, {
      type: JSON_TYPE,
      fileName: `run-${runId}.json`,
    })
  );
});
