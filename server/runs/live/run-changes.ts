import type { Notifications } from "@/server/base/db/notifications";

/**
 * Notifies pages of the newest change of a run, outside the writer's transactions, where NOTIFY would serialize
 * commits.
 */
export function notifyRunChanged(
  services: { notifications: Notifications },
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

/** The run that a notification is about. */
export const runIdOf = (payload: string): string => changeText.exec(payload)?.[2] ?? "";

export function subscribeToRuns(
  { notifications }: { notifications: Notifications },
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
