import { privateResponse, runRoute } from "@/app/api/handlers";
import { queueDashboardCall } from "@/server/guard/limits/dashboard-queue";
import { readCompleteRun } from "@/server/runs/read/export";

/** A run with all its steps and model calls, as one JSON file. */
export const GET = runRoute(async ({ services, request: { signal }, actor, runId }) => {
  const work = () => readCompleteRun(services, actor, runId);
  const run = await queueDashboardCall(services, actor.orgId, { work, signal });
  return (
    run &&
    privateResponse(`${JSON.stringify(run, null, 2)}\n`, {
      type: "application/json",
      fileName: `run-${runId}.json`,
    })
  );
});
