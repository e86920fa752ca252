import type { MemberActor } from "@/server/base/actor";
import { sleep, sleepUntilWoken } from "@/server/base/sleep";
import { isTerminal } from "@/server/contract/enums";
import { queueDashboardCall } from "@/server/guard/limits/dashboard-queue";
import type { EventSink } from "@/server/runs/live/event-stream";
import { updateOf } from "@/server/runs/live/run-update";
import { inspectRun } from "@/server/runs/read/inspect/inspect";
import { listenToRun, type Subscription, subscribeToRuns } from "@/server/runs/run-changes";
import type { Services } from "@/server/runs/services";

const RUN_PAUSE_MS = 100;
const LIST_PAUSE_MS = 500;
// Notifications may be lost.
const POLL_MS = 5_000;
/** A poll of a list is a complete search. */
const LIST_POLL_MS = 60_000;
const POLL_WITHOUT_NOTIFICATIONS_MS = 1_000;
/** The most changed runs that are named; beyond that the reader must check itself. */
export const MAX_NAMED_RUNS = 200;

/**
 * Sends changes after the sequence `after` as events `change`: RunUpdates whose ids are sequences. The stream ends
 * with the event in which the run has ended. A reader that reconnects with the last id misses nothing.
 */
export async function streamRun(
  services: Services,
  actor: MemberActor,
  { runId, after, sink }: { runId: string; after: number; sink: EventSink },
): Promise<void> {
  let seen = after;
  await listen({
    sink,
    pauseMs: RUN_PAUSE_MS,
    subscribe: (listener) => listenToRun(services, runId, listener),
    look: async () => {
      const work = () => inspectRun(services, actor, { runId, after: seen });
      const change = await queueDashboardCall(services, actor.orgId, { work });
      if (change.run.sequence > seen) {
        seen = change.run.sequence;
        sink.send({ name: "change", data: updateOf(change), id: seen });
      }
      return isTerminal(change.run.status) ? "over" : "more";
    },
  });
}

/**
 * Sends ids of the organization's changed runs as events `runs` with `{ ids: string[] }`. The first event has no ids,
 * and one after which changes may be unknown: check everything.
 */
export async function streamRuns(
  services: Pick<Services, "notifications">,
  actor: MemberActor,
  sink: EventSink,
): Promise<void> {
  const changed = new Set<string>();
  let isUnknown = true;
  await listen({
    sink,
    pauseMs: LIST_PAUSE_MS,
    pollMs: LIST_POLL_MS,
    subscribe: (listener) =>
      subscribeToRuns(services, actor.orgId, (runId) => {
        if (runId === null) isUnknown = true;
        else if (changed.size < MAX_NAMED_RUNS) changed.add(runId);
        else isUnknown ||= !changed.has(runId);
        listener();
      }),
    look: async () => {
      sink.send({ name: "runs", data: { ids: isUnknown ? [] : [...changed] } });
      changed.clear();
      isUnknown = false;
      return "more";
    },
  });
}

/** Calls `look` at once, then whenever something may have changed, until it is over or the reader left. */
export async function listen({
  sink,
  pauseMs,
  pollMs = POLL_MS,
  subscribe,
  look,
}: {
  sink: EventSink;
  pauseMs: number;
  pollMs?: number;
  subscribe: (listener: () => void) => Subscription;
  look: () => Promise<"more" | "over">;
}): Promise<void> {
  let isChanged = true;
  let wake = () => {};
  const subscription = subscribe(() => {
    isChanged = true;
    wake();
  });
  try {
    while (!sink.signal.aborted) {
      await sink.drained();
      if (sink.signal.aborted) return;
      isChanged = false;
      if ((await look()) === "over") return;
      await sleep(pauseMs, sink.signal);
      if (isChanged) continue;
      await sleepUntilWoken(
        subscription.connected() ? pollMs : POLL_WITHOUT_NOTIFICATIONS_MS,
        sink.signal,
        (done) => {
          wake = done;
        },
      );
    }
  } finally {
    subscription.unsubscribe();
  }
}
