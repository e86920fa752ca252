import { retryWhileUnavailable } from "@/server/db/outage";
import type { Services } from "@/server/services";
import type { ClaimedRun } from "./claimed-run";
import { endOpenRun, endUnclaimedRun } from "./end-run";
import type { Budget } from "./execute/budget";
import type { Outcome } from "./execute/execution";
import { pauseAt } from "./pause-points";
import type { Worker } from "./port";
import { pauseRun, readState, releaseChildren, yieldSlot } from "./run-state";
import type { RunJournal } from "./write/journal";

/** A root run that has a slot of this process, and how it leaves the slot before its end. */
export type Slot = {
  run: ClaimedRun;
  worker: Worker;
  journal: RunJournal;
  budget: Budget;
  family: { started: number };
  /** The journals of the run and its children in this segment, with how many of their rows were finished before it. */
  entered: { journal: RunJournal; before: number }[];
  /** Whether it yields its slot before its next act. */
  yielding: boolean;
};

/**
 * How a segment ended: the run ended, waits for a slot again, continues in the next segment, or no longer belongs to
 * this engine.
 */
export type SegmentResult = "ended" | "yielded" | "paused" | "left";

/** Resolves when all that the run and its children completed is committed. Throws WorkerLost. */
export async function committed({ entered }: Slot): Promise<void> {
  for (const { journal } of entered) await journal.committed();
  await pauseAt("yield:before");
}

/** Resolves when no write of the run and its children is in flight, whether it succeeded or not. */
export async function settle({ journal, entered }: Slot): Promise<void> {
  for (const one of [journal, ...entered.map((entry) => entry.journal)]) await one.settled();
}

/** Releases the slot of a committed run, which waits for another one from `until` on. */
export async function releaseSlot(
  services: Services,
  { run, worker, journal }: Slot,
  until: Date | null = null,
): Promise<SegmentResult> {
  const sequence = journal.nextSequence();
  if (!(await yieldSlot(services, run, { workerId: worker.id, sequence, wakeAt: until })))
    return endUnclaimable(services, run.id);
  if (until === null) services.notifications.send("engine", "waiting", "waiting");
  return "yielded";
}

/** Ends a segment of a committed run, which keeps its slot for an Inngest server's next call. */
export async function pauseSlot(services: Services, { run, worker }: Slot): Promise<SegmentResult> {
  return (await pauseRun(services, run, worker.id)) ? "paused" : endUnclaimable(services, run.id);
}

/** Releases a run after an error. If that fails, the dispatcher releases it later. */
export async function releaseRun(services: Services, slot: Slot): Promise<void> {
  await settle(slot);
  await pauseRun(services, slot.run, slot.worker.id).catch((error: unknown) => {
    services.log.warn("Could not release a run after a platform fault; retrying in 1 s", { error });
  });
}

/** What became of a run that cannot be claimed. Ends it if it was cancelled. */
export async function endUnclaimable(services: Services, runId: string): Promise<SegmentResult> {
  const state = await readState(services, runId);
  if (state === null || state.terminal) return "ended";
  if (state.claimed) return "left";
  if (state.cancelledBy === null) return "yielded";
  await endUnclaimedRun(services, runId, { status: "Cancelled", by: state.cancelledBy });
  return "ended";
}

/** Ends a run after its last failed attempt: a platform fault, not charged, its cause only in the log. */
export async function failRun(
  services: Services,
  { runId, slot, error }: { runId: string; slot: Slot | undefined; error: unknown },
): Promise<void> {
  services.log.error("A run failed after its last attempt", { runId, error });
  const message = "Something failed on our side while this run was executed. Start it again.";
  const outcome: Outcome = { status: "Failed", code: "internal_error", message };
  if (slot) await settle(slot);
  await retryWhileUnavailable(async () => {
    if (slot) await releaseChildren(services.pool, runId, slot.worker.id);
    await endOpenRun(services, runId, { outcome, worker: slot?.worker });
  });
}
