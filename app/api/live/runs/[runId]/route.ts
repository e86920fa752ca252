import { openStream } from "@/app/api/live/open-stream";
import { memberForRoute, refuseRoute } from "@/app/request";
import { getServices } from "@/process-services";
import { isUuid } from "@/server/ids";
import { streamRun } from "@/server/live/run-stream";

/** Streams one run's changes since `Last-Event-ID`, or since `?after=` on the first connection. */
export async function GET(
  request: Request,
  { params }: { params: Promise<{ runId: string }> },
): Promise<Response> {
  const services = getServices();
  const found = await memberForRoute(services, request);
  if ("refusal" in found) return found.refusal;
  const { runId } = await params;
  const run = isUuid(runId)
    ? await services.db.run.findFirst({
        where: { id: runId, organizationId: found.actor.orgId },
        select: { id: true },
      })
    : null;
  if (!run) return refuseRoute("not_found", `There is no run ${runId} in this organization.`);
  const last = request.headers.get("last-event-id") ?? new URL(request.url).searchParams.get("after") ?? "";
  const after = /^\d{1,9}$/.test(last) ? Number(last) : -1;
  return openStream(services, request, {
    actor: found.actor,
    produce: (sink) => streamRun(services, found.actor, { runId, after, sink }),
  });
}
