import { openStream } from "@/app/api/live/open-stream";
import { memberForRoute } from "@/app/request";
import { getServices } from "@/process-services";
import { streamRuns } from "@/server/live/run-stream";

/** Streams the ids of the organization's changed runs. */
export async function GET(request: Request): Promise<Response> {
  const services = getServices();
  const found = await memberForRoute(services, request);
  if ("refusal" in found) return found.refusal;
  return openStream(services, request, {
    actor: found.actor,
    produce: (sink) => streamRuns(services, found.actor, sink),
  });
}
