import type { Services } from "@/server/services";

/**
 * Says that a run changed, so that pages look at it. Sent outside the writer's transactions, where it would make commits
 * wait for each other, and gathered for a moment: of several changes of a run only the newest is sent.
 */
export function notifyRunChanged(
  services: Pick<Services, "notifications">,
  run: { orgId: string; id: string },
  sequence: number,
): void {
  services.notifications.send("run", run.id, `${run.orgId}:${run.id}:${sequence}`);
}
