import { z } from "zod";
import { defineCommand, defineQuery, isOpenSql, type Queryable } from "@/server/base/db/statement";
import { transact } from "@/server/base/db/transaction";
import { notifyRunChanged } from "@/server/runs/run-changes";
import type { Services } from "@/server/runs/services";
import type { ClaimedRun } from "./claimed-run";
import type { Worker } from "./port";
import { SUSPECT_CRASHES } from "./suspects";

/** Each change is a compare-and-set. */

/** Equals the condition of the index `runs_waiting`. */
export const WAITING = `${isOpenSql()} AND admitted_at IS NULL AND parent_run_id IS NULL AND wake_at IS NULL`;

// `parameter` is the queue's `isOfSuspects`.
const waitingIn = (parameter: string) =>
  `${WAITING} AND (${parameter}::boolean IS NULL OR (crashes >= ${SUSPECT_CRASHES}) = ${parameter})`;

/** The root runs of the worker $1. */
export const findClaimedRuns = defineQuery(
  "find-claimed-runs",
  z.object({ id: z.string(), epoch: z.number() }),
  `SELECT id, epoch FROM runs WHERE claimed_by = $1 AND ${isOpenSql()} AND parent_run_id IS NULL`,
);

/** Takes a crash back from the runs $1: their worker was replaced, but its process lives. */
export const uncountCrash = defineCommand(
  "uncount-crash",
  `UPDATE runs SET crashes = crashes - 1 WHERE id = ANY($1::uuid[]) AND ${isOpenSql()} AND crashes > 0`,
);

export const findSuspect = defineQuery(
  "find-suspect",
  z.object({ id: z.string() }),
  `SELECT id FROM runs WHERE ${WAITING} AND crashes >= ${SUSPECT_CRASHES} LIMIT 1`,
);

/** Open runs that are to be cancelled, by whom, and whether they have a worker. */
export const findCancelledRuns = defineQuery(
  "find-cancelled-runs",
  z.object({ id: z.string(), by: z.string(), claimed: z.boolean() }),
  `SELECT id, coalesce(cancelled_by, 'a user') AS by, claimed_by IS NOT NULL AS claimed FROM runs
   WHERE ${isOpenSql()} AND cancel_requested_at IS NOT NULL ORDER BY id LIMIT 500`,
);

/** Runs that were handed over to an Inngest server that has not called them yet. */
export const findHandedOver = defineQuery(
  "find-handed-over",
  z.object({ id: z.string() }),
  `SELECT id FROM runs
   WHERE ${isOpenSql()} AND admitted_at IS NOT NULL AND claimed_by IS NULL AND parent_run_id IS NULL`,
);

export const findWaiting = defineQuery(
  "find-waiting",
  z.object({ id: z.string() }),
  `SELECT id FROM runs WHERE ${waitingIn("$1")} LIMIT 1`,
);

const shares = z.object({ organizationId: z.string(), runs: z.number() });

const COUNTED = `${waitingIn("$1")} AND id <> ALL($2::uuid[])`;

/**
 * The number of waiting runs of a queue that each organization's plan allows to execute, without those of $2; at most
 * 100 of one are counted.
 */
export const countWaiting = defineQuery(
  "count-waiting",
  shares,
  `WITH RECURSIVE waiting AS (
     (SELECT organization_id FROM runs WHERE ${COUNTED} ORDER BY organization_id LIMIT 1)
     UNION ALL
     SELECT (SELECT r.organization_id FROM runs r WHERE ${COUNTED} AND r.organization_id > w.organization_id ORDER BY 1 LIMIT 1)
     FROM waiting w WHERE w.organization_id IS NOT NULL
   )
   SELECT o.id AS "organizationId", least(p.concurrency - o.in_flight, (
            SELECT count(*) FROM (SELECT FROM runs WHERE organization_id = o.id AND ${COUNTED} LIMIT 100) q))::int AS runs
   FROM waiting w JOIN organizations o ON o.id = w.organization_id JOIN plans p ON p.organization_id = o.id
   WHERE o.in_flight < p.concurrency`,
);

/** The number of runs of each organization that have a slot, in all processes and on an Inngest server. */
export const countInFlight = defineQuery(
  "count-in-flight",
  shares,
  `SELECT id AS "organizationId", in_flight AS runs FROM organizations WHERE in_flight > 0`,
);

const WAKE = defineQuery(
  "wake-runs",
  z.object({ woken: z.number(), nextMs: z.number().nullable() }),
  `WITH moment AS (SELECT coalesce($1, clock_timestamp()) - make_interval(secs => $2) AS now), woken AS (
     UPDATE runs SET wake_at = NULL
     WHERE ${isOpenSql()} AND wake_at IS NOT NULL AND wake_at <= (SELECT now FROM moment) RETURNING id)
   SELECT (SELECT count(*) FROM woken)::int AS woken,
          (SELECT ceil(extract(epoch FROM min(wake_at) - (SELECT now FROM moment)) * 1000)::float8 FROM runs
           WHERE ${isOpenSql()} AND wake_at IS NOT NULL AND wake_at > (SELECT now FROM moment)) AS "nextMs"`,
);

/**
 * Makes runs whose wait has been over for `graceMs` wait for a slot. Returns their number, and the ms until the next one
 * is due.
 */
export async function wakeRuns({ pool, clock }: Pick<Services, "pool" | "clock">, { graceMs = 0 } = {}) {
  const [row] = await WAKE(pool, [clock.forDatabase(), graceMs / 1000]);
  return row ?? { woken: 0, nextMs: null };
}

// An Inngest server's clock may be ahead of the database's.
const EARLY_MS = 1_000;

const WAKE_SLEEPER = defineQuery(
  "wake-sleeper",
  z.object({ organizationId: z.string(), admitted: z.boolean() }),
  `WITH moment AS (SELECT coalesce($3, clock_timestamp()) AS now)
   UPDATE runs SET wake_at = NULL, sequence = sequence + 1,
     admitted_at = CASE WHEN o.in_flight < p.concurrency THEN moment.now END,
     resumed_at = CASE WHEN o.in_flight < p.concurrency THEN resumed_at || moment.now ELSE resumed_at END
   FROM moment, organizations o JOIN plans p ON p.organization_id = o.id
   WHERE runs.id = $1 AND hand_over = $2 AND o.id = runs.organization_id AND ${isOpenSql("runs")} AND cancel_requested_at IS NULL
     AND admitted_at IS NULL AND parent_run_id IS NULL AND wake_at <= moment.now + make_interval(secs => $4)
   RETURNING runs.organization_id AS "organizationId", admitted_at IS NOT NULL AS admitted`,
);
const TAKE_SLOT = defineCommand(
  "take-slot",
  "UPDATE organizations SET in_flight = in_flight + 1 WHERE id = $1",
);

/**
 * Wakes a run whose wait is over, for an Inngest server's call. Returns true if the run got a slot; otherwise it
 * waits for one.
 */
export function wakeSleeper(
  { pool, clock }: Pick<Services, "pool" | "clock">,
  { runId, handOver }: { runId: string; handOver: number },
): Promise<boolean> {
  return transact(pool, async (client) => {
    await LOCK_ORGANIZATIONS(client, [[runId]]);
    const [run] = await WAKE_SLEEPER(client, [runId, handOver, clock.forDatabase(), EARLY_MS / 1000]);
    if (run?.admitted) await TAKE_SLOT(client, [run.organizationId]);
    return run?.admitted ?? false;
  });
}

const LOCK_ORGANIZATIONS = defineQuery(
  "lock-organizations-of-runs",
  z.object({}),
  "SELECT FROM organizations WHERE id IN (SELECT organization_id FROM runs WHERE id = ANY($1)) ORDER BY id FOR NO KEY UPDATE",
);
const RELEASE_SLOTS = defineCommand(
  "release-slots",
  `UPDATE organizations o SET in_flight = in_flight - n
   FROM (SELECT id, count(*)::int AS n FROM unnest($1::uuid[]) AS id GROUP BY id) r WHERE o.id = r.id`,
);

/** Takes the child runs of the root run $1 from the worker $2. */
export const releaseChildren = defineCommand(
  "release-children",
  "UPDATE runs SET claimed_by = NULL WHERE claimed_by = $2 AND root_run_id = $1 AND parent_run_id IS NOT NULL AND status = 'Running'",
);

const RELEASE = defineQuery(
  "release-runs",
  z.object({ id: z.string(), organizationId: z.string() }),
  `UPDATE runs SET claimed_by = NULL, admitted_at = NULL
   FROM unnest($2::uuid[], $3::int[]) AS claim (id, epoch)
   WHERE runs.id = claim.id AND runs.epoch = claim.epoch AND claimed_by = $1 AND ${isOpenSql()}
   RETURNING runs.id, organization_id AS "organizationId"`,
);

/** Releases runs that a worker has but does not execute: they wait for a slot again. Returns those that it still had. */
export async function releaseRuns(
  { pool }: Pick<Services, "pool">,
  workerId: string,
  runs: readonly { id: string; epoch: number }[],
): Promise<string[]> {
  const ids = runs.map(({ id }) => id);
  return transact(pool, async (client) => {
    await LOCK_ORGANIZATIONS(client, [ids]);
    const released = await RELEASE(client, [workerId, ids, runs.map(({ epoch }) => epoch)]);
    for (const { id } of released) await releaseChildren(client, [id, workerId]);
    await RELEASE_SLOTS(client, [released.map(({ organizationId }) => organizationId)]);
    return released.map(({ id }) => id);
  });
}

const RELEASE_HANDED_OVER = defineQuery(
  "release-handed-over",
  z.object({ organizationId: z.string() }),
  `UPDATE runs SET admitted_at = NULL, paused_by = NULL
   FROM unnest($1::uuid[], $2::int[]) AS given (id, hand_over)
   WHERE runs.id = given.id AND runs.hand_over = given.hand_over AND ${isOpenSql()}
     AND admitted_at IS NOT NULL AND claimed_by IS NULL AND parent_run_id IS NULL
   RETURNING organization_id AS "organizationId"`,
);

/** Takes runs back from an Inngest server that does not call them: they wait for a slot again. Returns how many. */
export async function releaseHandedOver(
  { pool }: Pick<Services, "pool">,
  runs: readonly { id: string; handOver: number }[],
): Promise<number> {
  const ids = runs.map(({ id }) => id);
  return transact(pool, async (client) => {
    await LOCK_ORGANIZATIONS(client, [ids]);
    const released = await RELEASE_HANDED_OVER(client, [ids, runs.map(({ handOver }) => handOver)]);
    await RELEASE_SLOTS(client, [released.map(({ organizationId }) => organizationId)]);
    return released.length;
  });
}

type Claim = { run: Pick<ClaimedRun, "id" | "orgId" | "epoch">; worker: Pick<Worker, "id"> };

const IS_CLAIMED = "id = $1 AND claimed_by = $2 AND epoch = $3 AND status = 'Running'";

/** False if the worker no longer has the run. */
async function changeClaimed(
  client: Queryable,
  { run, worker }: Claim,
  change: (claim: unknown[]) => Promise<number>,
): Promise<boolean> {
  const isChanged = (await change([run.id, worker.id, run.epoch])) > 0;
  if (isChanged) await releaseChildren(client, [run.id, worker.id]);
  return isChanged;
}

const YIELD = defineCommand(
  "yield-run",
  `UPDATE runs SET admitted_at = NULL, claimed_by = NULL, sequence = $4, wake_at = $6,
                   yielded_at = yielded_at || coalesce($5, date_trunc('milliseconds', clock_timestamp()))
   WHERE ${IS_CLAIMED} AND cancel_requested_at IS NULL`,
);

const RECORD_WAIT = defineCommand(
  "record-wait",
  // Callbacks tell about timers. A run yields its slot often, and not for long.
  `WITH wait AS (
     INSERT INTO run_events (run_id, n, organization_id, reason, until, created_at)
     VALUES ($1, $2, $3, CASE WHEN $4::timestamptz IS NULL THEN 'slot' ELSE 'timer' END, $4, coalesce($5, clock_timestamp()))
     RETURNING run_id, n, organization_id, until, created_at)
   INSERT INTO callback_events (id, organization_id, run_id, type, wait, created_at)
   SELECT gen_random_uuid(), w.organization_id, w.run_id, 'run.waiting', w.n, w.created_at
   FROM wait w JOIN organizations o ON o.id = w.organization_id WHERE o.has_callbacks AND w.until IS NOT NULL`,
);

/** Stores that a run yields its slot, with the number of that event. False if the run is to be cancelled or the worker no longer has it. */
export async function yieldSlot(
  services: Services,
  claim: Claim,
  { sequence, event, until = null }: { sequence: number; event: number; until?: Date | null },
): Promise<boolean> {
  const { run } = claim;
  const isYielded = await transact(services.pool, async (client) => {
    await LOCK_ORGANIZATIONS(client, [[run.id]]);
    const yielded = await changeClaimed(client, claim, (values) =>
      YIELD(client, [...values, sequence, services.clock.forDatabase(), until]),
    );
    if (!yielded) return false;
    await RECORD_WAIT(client, [run.id, event, run.orgId, until, services.clock.forDatabase()]);
    await RELEASE_SLOTS(client, [[run.orgId]]);
    return true;
  });
  if (isYielded) notifyRunChanged(services, run, sequence);
  return isYielded;
}

const PAUSE = defineCommand(
  "pause-run",
  `UPDATE runs SET claimed_by = NULL, paused_by = claimed_by, admitted_at = moment.now,
                   paused_at = CASE WHEN $5 THEN moment.now ELSE paused_at END
   FROM (SELECT coalesce($4, date_trunc('milliseconds', clock_timestamp())) AS now) moment
   WHERE ${IS_CLAIMED} AND cancel_requested_at IS NULL`,
);

/** Releases a run that keeps its slot, `inOrder`: between two calls. False as in `yieldSlot`. */
export function pauseRun(
  { pool, clock }: Services,
  claim: Claim,
  { inOrder }: { inOrder: boolean },
): Promise<boolean> {
  return transact(pool, (client) =>
    changeClaimed(client, claim, (values) => PAUSE(client, [...values, clock.forDatabase(), inOrder])),
  );
}

const RENEW_CLAIM = defineCommand("renew-claim", `UPDATE runs SET epoch = epoch + 1 WHERE ${IS_CLAIMED}`);

/**
 * Raises the epoch of a claim, so that the journal is read again, and releases child runs. False if the worker no
 * longer has the run.
 */
export function renewClaim({ pool }: Services, claim: Claim): Promise<boolean> {
  return transact(pool, (client) => changeClaimed(client, claim, (values) => RENEW_CLAIM(client, values)));
}
