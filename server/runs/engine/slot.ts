import { z } from "zod";
import { retryWhileUnavailable } from "@/server/db/outage";
import { defineCommand, defineQuery } from "@/server/db/statement";
import { transact } from "@/server/db/transaction";
import { notifyRunChanged } from "@/server/live/run-changes";
import type { Services } from "@/server/services";
import type { ClaimedRun, Outcome } from "./claimed-run";
import { endOpenRun, endUnclaimedRun } from "./end-run";
import type { Budget } from "./execute/budget";
import { pauseAt } from "./pause-points";
import type { Worker } from "./port";
import { releaseChildren } from "./run-state";
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
export async function waitForCommit({ entered }: Slot): Promise<void> {
  for (const { journal } of entered) await journal.committed();
  await pauseAt("yield:before");
}

/** Resolves when no write of the run and its children is in flight, whether it succeeded or not. */
export async function waitForWrites({ journal, entered }: Slot): Promise<void> {
  const journals = [journal, ...entered.map((entry) => entry.journal)];
  for (const each of journals) await each.settled();
}

type Claim = { run: ClaimedRun; worker: Pick<Worker, "id"> };

const claimOf = ({ run, worker }: Claim) => [run.id, worker.id, run.epoch];
const IS_CLAIMED = "id = $1 AND claimed_by = $2 AND epoch = $3 AND status = 'Running'";

const LOCK_ORGANIZATION = defineQuery(
  "lock-organization",
  z.object({}),
  "SELECT FROM organizations WHERE id = $1 FOR NO KEY UPDATE",
);
const YIELD = defineCommand(
  "yield-run",
  `UPDATE runs SET admitted_at = NULL, claimed_by = NULL, sequence = $4, wake_at = $6,
                   yielded_at = yielded_at || coalesce($5, date_trunc('milliseconds', clock_timestamp()))
   WHERE ${IS_CLAIMED} AND cancel_requested_at IS NULL`,
);
const RELEASE_SLOT = defineCommand(
  "release-slot",
  "UPDATE organizations SET in_flight = in_flight - 1 WHERE id = $1",
);
const PAUSE = defineCommand(
  "pause-run",
  `UPDATE runs SET claimed_by = NULL, admitted_at = coalesce($4, date_trunc('milliseconds', clock_timestamp()))
   WHERE ${IS_CLAIMED} AND cancel_requested_at IS NULL`,
);
const RENEW_CLAIM = defineCommand("renew-claim", `UPDATE runs SET epoch = epoch + 1 WHERE ${IS_CLAIMED}`);

/** Why a run cannot be claimed. */
const FIND_UNCLAIMABLE = defineQuery(
  "find-unclaimable",
  z.object({ ended: z.boolean(), claimed: z.boolean(), cancelledBy: z.string().nullable() }),
  `SELECT finished_at IS NOT NULL AS ended, claimed_by IS NOT NULL AS claimed,
          CASE WHEN cancel_requested_at IS NOT NULL THEN coalesce(cancelled_by, 'a user') END AS "cancelledBy"
   FROM runs WHERE id = $1`,
);

/** Releases the slot of a committed run, which waits for another one from `until` on. */
export async function releaseSlot(
  services: Services,
  slot: Slot,
  until: Date | null = null,
): Promise<SegmentResult> {
  if (!(await yieldSlot(services, slot, { sequence: slot.journal.nextSequence(), until })))
    return endUnclaimable(services, slot.run.id);
  if (until === null) services.notifications.send("engine", "waiting", "waiting");
  return "yielded";
}

/** Stores that a run yields its slot. False if the run is to be cancelled or this worker no longer has it. */
export async function yieldSlot(
  services: Services,
  claim: Claim,
  { sequence, until = null }: { sequence: number; until?: Date | null },
): Promise<boolean> {
  const { run, worker } = claim;
  const isYielded = await transact(services.pool, async (client) => {
    await LOCK_ORGANIZATION(client, [run.orgId]);
    const yielded = await YIELD(client, [...claimOf(claim), sequence, services.clock.forDatabase(), until]);
    if (yielded === 0) return false;
    await releaseChildren(client, run.id, worker.id);
    await RELEASE_SLOT(client, [run.orgId]);
    return true;
  });
  if (isYielded) notifyRunChanged(services, run, sequence);
  return isYielded;
}

/** Ends a segment of a committed run, which keeps its slot for an Inngest server's next call. */
export async function pauseSlot(services: Services, claim: Claim): Promise<SegmentResult> {
  return (await pauseRun(services, claim)) ? "paused" : endUnclaimable(services, claim.run.id);
}

/** Releases a run that keeps its slot. False as in `yieldSlot`. */
function pauseRun({ pool, clock }: Services, claim: Claim): Promise<boolean> {
  return transact(pool, async (client) => {
    const paused = await PAUSE(client, [...claimOf(claim), clock.forDatabase()]);
    if (paused > 0) await releaseChildren(client, claim.run.id, claim.worker.id);
    return paused > 0;
  });
}

/**
 * Claims a run of this worker again, so that it is read as by another worker, and releases its child runs. False if
 * this worker no longer has it.
 */
export function renewClaim({ pool }: Services, claim: Claim): Promise<boolean> {
  return transact(pool, async (client) => {
    const renewed = await RENEW_CLAIM(client, claimOf(claim));
    if (renewed > 0) await releaseChildren(client, claim.run.id, claim.worker.id);
    return renewed > 0;
  });
}

/** Releases a run after an error. If that fails, the dispatcher releases it later. */
export async function releaseRun(services: Services, slot: Slot): Promise<void> {
  await waitForWrites(slot);
  await pauseRun(services, slot).catch((error: unknown) => {
    services.log.warn("Could not release a run after a platform fault; retrying in 1 s", { error });
  });
}

/** What became of a run that cannot be claimed. Ends it if it was cancelled. */
export async function endUnclaimable(services: Services, runId: string): Promise<SegmentResult> {
  const [run] = await FIND_UNCLAIMABLE(services.pool, [runId]);
  if (run === undefined || run.ended) return "ended";
  if (run.claimed) return "left";
  if (run.cancelledBy === null) return "yielded";
  await endUnclaimedRun(services, runId, { status: "Cancelled", by: run.cancelledBy });
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
  if (slot) await waitForWrites(slot);
  await retryWhileUnavailable(async () => {
    if (slot) await releaseChildren(services.pool, runId, slot.worker.id);
    await endOpenRun(services, runId, { outcome, worker: slot?.worker });
  });
}
