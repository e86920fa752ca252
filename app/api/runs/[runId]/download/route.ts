import { privateText, runRoute } from "@/app/api/handlers";
import { JSON_TYPE } from "@/server/contract/media-types";
import { queueDashboardCall } from "@/server/guard/limits/dashboard-queue";
import { readCompleteRun } from "@/server/runs/read/export";

export const GET = runRoute(async (call) => {
  const { services, request, actor, runId } = call;
  const work = () => readCompleteRun(services, actor, runId);
  const run = await queueDashboardCall(services, actor.orgId, { work, signal: request.signal });
  const text = `${JSON.stringify(run, null, 2)}\n`;
  return run && privateText(call, text, { type: JSON_TYPE, fileName: `run-${runId}.json` });
});
