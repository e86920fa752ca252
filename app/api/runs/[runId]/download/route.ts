import { holdUnread, privateResponse, runRoute } from "@/app/api/handlers";
import { streamPieces } from "@/app/api/piece-stream";
import { JSON_TYPE } from "@/server/contract/media-types";
import { queueDashboardCall } from "@/server/guard/limits/dashboard-queue";
import { openRunFile } from "@/server/runs/read/run-file";

export const GET = runRoute(async (call) => {
  const { services, request, actor, runId } = call;
  const work = () => openRunFile(services, actor, runId);
  const file = await queueDashboardCall(services, actor.orgId, { work, signal: request.signal });
  if (file === null) return null;
  const onOver = holdUnread(call, file.bytes);
  return privateResponse(streamPieces(call, file.pieces, { name: "download", onOver }), {
    type: JSON_TYPE,
    fileName: `run-${runId}.json`,
  });
});
