import { runRoute } from "@/app/api/handlers";
import { openStream } from "@/app/api/live/open-stream";
import { streamRun } from "@/server/runs/live/run-stream";

/** Streams one run's changes since `Last-Event-ID`, or since `?after=` on the first connection. */
export const GET = runRoute(async ({ services, request, actor, runId }) => {
  const run = await services.db.run.findFirst({
    where: { id: runId, organizationId: actor.orgId },
    select: { id: true },
  });
  if (!run) return null;
  const last = request.headers.get("last-event-id") ?? new URL(request.url).searchParams.get("after") ?? "";
  const after = /^\d{1,9}$/.test(last) ? Number(last) : -1;
  return openStream(services, request, {
    actor,
    produce: (sink) => streamRun(services, actor, { runId, after, sink }),
  });
});
