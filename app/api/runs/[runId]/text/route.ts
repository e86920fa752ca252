import { privateText, runRoute } from "@/app/api/handlers";
import { AppError } from "@/server/base/errors";
import { isUuid } from "@/server/base/ids";
import { queueDashboardCall } from "@/server/guard/limits/dashboard-queue";
import { readPayload } from "@/server/runs/read/inspect/inspect-line";

/**
 * One complete text of a run (`?field=input|output`) or of a step (`?step=`), as a file with `?download=1`.
 * Untrusted, so sent as plain text that no browser renders.
 */
export const GET = runRoute(async (call) => {
  const { services, request, actor, runId } = call;
  const { url, signal } = request;
  const query = new URL(url).searchParams;
  const field = query.get("field") === "input" ? "input" : "output";
  const stepId = query.get("step") ?? undefined;
  if (stepId !== undefined && !isUuid(stepId))
    throw new AppError("not_found", `Run ${runId} has no such ${field}.`);
  const work = () => readPayload(services, actor.orgId, { runId, stepId, field });
  const text = await queueDashboardCall(services, actor.orgId, { work, signal });
  const fileName = query.has("download") ? `${stepId ?? runId}-${field}.txt` : undefined;
  return privateText(call, text, { type: "text/plain", fileName });
});
