import { memberRoute } from "@/app/api/handlers";
import { openStream } from "@/app/api/live/open-stream";
import { streamRuns } from "@/server/runs/live/run-stream";

export const GET = memberRoute(async ({ services, request, actor }) =>
  openStream(services, request, { actor, produce: (sink) => streamRuns(services, actor, sink) }),
);
