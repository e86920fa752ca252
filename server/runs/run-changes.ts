import type { Notifications } from "@/server/base/db/notifications";
import { perOwner } from "@/server/base/per-owner";

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

export type Subscription = {
  /** While false, poll. */
  connected(): boolean;
  unsubscribe(): void;
};

const changeText = /^([^:]+):([^:]+):\d+$/;

const listenersOf = perOwner((notifications: Notifications) => {
  const listeners = new Map<string, Set<() => void>>();
  notifications.listen("run", (payload) => {
    // Without a payload, some may be lost.
    const wanted =
      payload === "" ? [...listeners.values()] : [listeners.get(changeText.exec(payload)?.[2] ?? "")];
    for (const each of wanted) for (const listener of [...(each ?? [])]) listener();
  });
  return listeners;
});

/** Calls the listener when a run may have changed. However many listen, a notification is read once. */
export function listenToRun(
  { notifications }: { notifications: Notifications },
  runId: string,
  listener: () => void,
): Subscription {
  notifications.open();
  const listeners = listenersOf(notifications);
  const own = listeners.get(runId) ?? new Set();
  listeners.set(runId, own.add(listener));
  return {
    connected: () => notifications.connected(),
    unsubscribe() {
      own.delete(listener);
      if (own.size === 0 && listeners.get(runId) === own) listeners.delete(runId);
    },
  };
}

/** Calls the listener with each change of an organization's run; null: changes may be lost. */
export function subscribeToRuns(
  { notifications }: { notifications: Notifications },
  orgId: string,
  listener: (runId: string | null) => void,
): Subscription {
  notifications.open();
  const unsubscribe = notifications.listen("run", (payload) => {
    const [, changedOrgId, runId = ""] = changeText.exec(payload) ?? [];
    if (payload === "") listener(null);
    else if (changedOrgId === orgId) listener(runId);
  });
  return { connected: () => notifications.connected(), unsubscribe };
}
