import { z } from "zod";
import { retryWhileUnavailable } from "@/server/base/db/outage";
import { defineQuery } from "@/server/base/db/statement";
import { pauseAt } from "@/server/base/pause-points";
import { type EndedStatus, RUN_STATUSES } from "@/server/contract/enums";
import type { Services } from "@/server/runs/services";
import type { ClaimedRun, Outcome } from "../claimed-run";
import { endOpenRun, endUnclaimedRun } from "../end-run";
import type { Worker } from "../port";
import { pauseRun, releaseChildren, yieldSlot } from "../run-state";
import type { Suspect } from "../suspects";
import { removeWorker } from "../worker";
import type { RunJournal } from "../write/journal";
import type { Budget } from "./budget";

/** A root run that has a slot of this process, and how it leaves the slot before its end. */
export type Slot = {
  run: ClaimedRun;
  worker: Worker;
  journal: RunJournal;
  budget: Budget;
  tree: Tree;
  /** True if the run yields its slot before its next call. */
  yielding: boolean;
};

export type Tree = {
  started: number;
  journals: Set<RunJournal>;
  /** True once a called run has ended since the root run got its slot. */
  hasEndedChild: boolean;
};

export type RunEnd = { status: EndedStatus; message: string | null };

/** The end of a segment. The run ended, waits, continues with the next call, or belongs to another call. */
export type SegmentResult =
  | { kind: "ended"; end: RunEnd }
  | { kind: "asleep"; until: Date; id: string }
  | { kind: "yielded" }
  | { kind: "paused"; id: string }
  | { kind: "busy" }
  | { kind: "left" };

/** Resolves when all that the run and its children completed is committed. Throws WorkerLost. */
export async function waitForCommit({ tree }: Slot): Promise<void> {
  for (const journal of tree.journals) await journal.committed();
  await pauseAt("yield:before");
}

/** Resolves when no write of the run and its children is in flight, whether it succeeded or not. */
export async function waitForWrites({ tree }: Slot): Promise<void> {
  for (const journal of tree.journals) await journal.settled();
}

const FIND_UNCLAIMABLE = defineQuery(
  "find-unclaimable",
  z.object({
    status: z.enum(RUN_STATUSES),
    message: z.string().nullable(),
    claimed: z.boolean(),
    admitted: z.boolean(),
    epoch: z.number(),
    handOver: z.number(),
    wakeAt: z.date().nullable(),
    cancelledBy: z.string().nullable(),
  }),
  `SELECT status, error_message AS message, claimed_by IS NOT NULL AS claimed, admitted_at IS NOT NULL AS admitted,
          epoch, hand_over AS "handOver", wake_at AS "wakeAt",
          CASE WHEN cancel_requested_at IS NOT NULL THEN coalesce(cancelled_by, 'a user') END AS "cancelledBy"
   FROM runs WHERE id = $1`,
);

/** Releases the slot of a committed run, which waits for another one from `until` on. */
export async function releaseSlot(
  services: Services,
  slot: Slot,
  until: Date | null = null,
): Promise<SegmentResult> {
  const { run, journal } = slot;
  if (
    !(await yieldSlot(services, slot, {
      sequence: journal.numbers.nextSequence(),
      event: journal.numbers.nextEvent(),
      until,
    }))
  )
    return endUnclaimable(services, { runId: run.id });
  if (until !== null) return { kind: "asleep", until, id: `sleep@${run.epoch}` };
  services.notifications.send("engine", "waiting", "waiting");
  return { kind: "yielded" };
}

/** Ends a call of a committed run, which keeps its slot for an Inngest server's next call. */
export async function pauseSlot(services: Services, slot: Slot): Promise<SegmentResult> {
  const { id, epoch } = slot.run;
  if (!(await pauseRun(services, slot, { inOrder: true }))) return endUnclaimable(services, { runId: id });
  return { kind: "paused", id: `call@${epoch}` };
}

/** Releases a run after an error. If that fails, the dispatcher releases it later. */
export async function releaseRun(services: Services, slot: Slot): Promise<void> {
  await waitForWrites(slot);
  await pauseRun(services, slot, { inOrder: false }).catch((error: unknown) => {
    services.log.warn("Could not release a run after a platform error; retrying in 1 s", { error });
  });
}

/** The state of a run that cannot be claimed for a hand-over. Ends it if it was cancelled. */
export async function endUnclaimable(
  services: Services,
  { runId, handOver }: { runId: string; handOver?: number | undefined },
): Promise<SegmentResult> {
  const [run] = await FIND_UNCLAIMABLE(services.pool, [runId]);
  if (run === undefined) return { kind: "left" };
  const { status, message, epoch, wakeAt, cancelledBy } = run;
  if (status !== "Pending" && status !== "Running")
    return { kind: "ended", end: { status, message: message ?? cancelledBy } };
  if (handOver !== undefined && run.handOver !== handOver) return { kind: "left" };
  if (run.claimed) return { kind: handOver === undefined ? "left" : "busy" };
  if (cancelledBy !== null) {
    await endUnclaimedRun(services, runId, { status: "Cancelled", by: cancelledBy });
    return { kind: "ended", end: { status: "Cancelled", message: cancelledBy } };
  }
  if (wakeAt !== null) return { kind: "asleep", until: wakeAt, id: `sleep@${epoch}` };
  // Another call has released it since the claim failed.
  return { kind: handOver !== undefined && run.admitted ? "busy" : "yielded" };
}

/**
 * Ends the run with which an isolated process crashed, unless another process executes it: a platform error, not
 * charged.
 */
export async function failSuspect(services: Services, { run, worker }: Suspect, error: Error): Promise<void> {
  await removeWorker(services.pool, worker, { crashed: true });
  await failRun(services, { runId: run, slot: undefined, error });
}

/** Ends a run after its last failed attempt: a platform error, not charged, its cause only in the log. */
export async function failRun(
  services: Services,
  { runId, slot, error }: { runId: string; slot: Slot | undefined; error: unknown },
): Promise<void> {
  services.log.error("A run failed after its last attempt", { runId, error });
  if (slot) await waitForWrites(slot);
  await retryWhileUnavailable(async () => {
    if (slot) await releaseChildren(services.pool, [runId, slot.worker.id]);
    await endOpenRun(services, runId, { outcome: PLATFORM_ERROR, worker: slot?.worker });
  });
}

const PLATFORM_ERROR: Outcome = {
  status: "Failed",
  code: "internal_error",
  message: "The service failed while it executed this run. Start it again.",
};

/** Ends a run that its worker cannot read: another attempt would fail, too. */
export async function failUnreadable(
  services: Services,
  { runId, worker }: { runId: string; worker: Worker },
  error: unknown,
): Promise<void> {
  services.log.error("Could not read the configuration of a run", { runId, error });
  await endOpenRun(services, runId, { outcome: PLATFORM_ERROR, worker });
}
