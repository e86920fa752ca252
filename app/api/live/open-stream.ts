import type { MemberActor } from "@/server/base/actor";
import { AppError } from "@/server/base/errors";
import { isStillMember } from "@/server/catalog/auth/sessions";
import { acquireStreamSlot } from "@/server/guard/limits/stream-slots";
import { type EventSink, respondWithEvents } from "@/server/runs/live/event-stream";
import type { Services } from "@/server/services";

const RETRY_AFTER_SECONDS = 5;

/**
 * Answers a member with a live stream, which holds a slot and ends with the session. Throws `rate_limited` without
 * a slot.
 */
export function openStream(
  services: Services,
  request: Request,
  { actor, produce }: { actor: MemberActor; produce: (sink: EventSink) => Promise<void> },
): Response {
  const slot = acquireStreamSlot(services, actor);
  if ("rejection" in slot) {
    const headers = { "retry-after": String(RETRY_AFTER_SECONDS) };
    throw new AppError("rate_limited", slot.rejection, { headers });
  }
  // Next may clear the request's headers after the handler has answered.
  const headers = new Headers(request.headers);
  return respondWithEvents(request, {
    produce,
    mayStay: () => isStillMember(services, headers, actor),
    onError: (error) => services.log.error("A live stream failed", { orgId: actor.orgId, error }),
    onOver: slot.release,
  });
}
