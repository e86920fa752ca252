import { memberForRoute } from "@/app/request";
import { respondWithEvents } from "@/server/live/event-stream";
import { streamRuns } from "@/server/live/run-stream";
import { getServices } from "@/wiring";

/** Live: ids of the organization's runs as they change. */
export async function GET(request: Request): Promise<Response> {
  const services = getServices();
  const found = await memberForRoute(services, request);
  if ("refusal" in found) return found.refusal;
  return respondWithEvents(
    request,
    (sink) => streamRuns(services, found.actor, sink),
    (error) => services.log.error("the live list of runs broke off", { error }),
  );
}
