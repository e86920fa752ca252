import { memberForRoute, refuseRoute } from "@/app/request";
import { getServices } from "@/process-services";
import { isUuid } from "@/server/ids";
import { queueDashboardCall } from "@/server/limits/dashboard-queue";
import { readPayload } from "@/server/runs/read/inspect/inspect-line";

/**
 * One complete text of a run: `?field=input|output`, of a step with `?step=`, as a file with `?download=1`. The text is
 * untrusted, so it is sent as plain text that no browser renders.
 */
export async function GET(
  request: Request,
  { params }: { params: Promise<{ runId: string }> },
): Promise<Response> {
  const services = getServices();
  const found = await memberForRoute(services, request);
  if ("refusal" in found) return found.refusal;
  const { runId } = await params;
  const query = new URL(request.url).searchParams;
  const field = query.get("field") === "input" ? "input" : "output";
  const stepId = query.get("step") ?? undefined;
  if (!isUuid(runId) || (stepId !== undefined && !isUuid(stepId))) {
    return refuseRoute("not_found", "There is no such text.");
  }
  const { orgId } = found.actor;
  const work = () => readPayload(services, orgId, { runId, stepId, field });
  const { signal } = request;
  const text = await queueDashboardCall(services, orgId, { work, signal }).catch(() => null);
  if (text === null) return refuseRoute("not_found", `Run ${runId} has no such ${field}.`);
  const name = `${stepId ?? runId}-${field}.txt`;
  return new Response(text, {
    headers: {
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
      "cache-control": "private, no-store",
      ...(query.has("download") ? { "content-disposition": `attachment; filename="${name}"` } : {}),
    },
  });
}
