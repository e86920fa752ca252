import type { Services } from "@/server/runs/services";

/**
 * Notifies pages of the newest change of a run, outside the writer's transactions, where NOTIFY would serialize
 * commits.
 */
export function notifyRunChanged(
  services: Pick<Services, "notifications">,
  run: { orgId: string; id: string },
  sequence: number,
): void {
  services.notifications.send("run", run.id, `${run.orgId}:${run.id}:${sequence}`);
}

type RunChange = { orgId: string; runId: string; sequence: number };
export type Subscription = {
  /** While false, poll. */
  connected(): boolean;
  unsubscribe(): void;
};

const changeText = /^([^:]+):([^:]+):(\d+)$/;

export function subscribeToRuns(
  { notifications }: Pick<Services, "notifications">,
  isWanted: (change: RunChange) => boolean,
  listener: (change: RunChange) => void,
): Subscription {
  notifications.open();
  const unsubscribe = notifications.listen("run", (payload) => {
    const [, orgId = "", runId = "", sequence = "0"] = changeText.exec(payload) ?? [];
    const change = { orgId, runId, sequence: Number(sequence) };
    if (isWanted(change)) listener(change);
  });
  return { connected: () => notifications.connected(), unsubscribe };
}
