import type { PoolClient } from "pg";
import type { StepMemo } from "./protocol";
import { type Connection, type Job, type Lease, type NewStep, stepColumns } from "./store";

/**
 * Who holds which job: the SQL of claiming, keeping and giving back, and of what only a holder may do.
 *
 * Leases follow the database's clock, which all processes share: a machine whose clock is wrong can neither steal a
 * lease nor keep one. What functions can notice (sleeps, timeouts, backoff) follows the injected clock, passed as `now`.
 */

// ── Claims and leases ───────────────────────────────────────────────────────────────────────────────────────────────

const DUE = `due_at <= greatest(statement_timestamp(), $2::timestamptz)
  AND due_at <= CASE WHEN claimed THEN statement_timestamp() ELSE $2::timestamptz END`;

// A lease that ran out means that its holder died or hung: that counts as one attempt, so that a step that kills its
// process cannot do so for ever.
const TAKE = `UPDATE engine.jobs AS job
  SET claimed = true, generation = job.generation + 1,
      attempt = job.attempt + CASE WHEN job.claimed THEN 1 ELSE 0 END,
      due_at = statement_timestamp() + $3 * interval '1 millisecond'
  FROM due, engine.runs AS run
  WHERE job.id = due.id AND run.id = job.run_id
  RETURNING job.id, job.run_id AS "runId", job.function_id AS "functionId", job.step_id AS "stepId",
    job.step_name AS "stepName", job.kind, job.attempt, job.generation, run.event`;

/**
 * `except`: what this process holds already. After an outage longer than a lease it would else take its own jobs from
 * itself, and do beside itself what it is still doing.
 */
type ClaimOptions = { now: Date; leaseMs: number; count: number; except: readonly string[] };
type JobRow = Omit<Job, "event"> & { event: string };

/** Claims up to `count` due jobs of functions that have no concurrency limit; other claimers are never waited for. */
export async function claim(
  db: Connection,
  functionIds: readonly string[],
  { now, leaseMs, count, except }: ClaimOptions,
): Promise<Job[]> {
  const { rows } = await db.query<JobRow>({
    name: "engine.claim",
    text: `WITH due AS MATERIALIZED (
        SELECT id FROM engine.jobs WHERE function_id = ANY ($1) AND ${DUE} AND id <> ALL ($5::uuid[])
        ORDER BY due_at LIMIT $4 FOR UPDATE SKIP LOCKED
      ) ${TAKE}`,
    values: [functionIds, now, leaseMs, count, except],
  });
  return rows.map(readJob);
}

/**
 * Claims one due job of a function with concurrency limits, if there is one whose keys all have room.
 * Claims for one function come one after the other (advisory lock), so that the count of held leases is exact across
 * processes; what sleeps or waits holds no place.
 */
export async function claimLimited(
  tx: PoolClient,
  functionId: string,
  limits: readonly number[],
  { now, leaseMs, except }: ClaimOptions,
): Promise<Job | null> {
  await tx.query("SELECT pg_advisory_xact_lock(hashtextextended('engine.claim:' || $1, 0))", [functionId]);
  const { rows } = await tx.query<JobRow>({
    name: "engine.claim_limited",
    text: `WITH held AS (
        SELECT key, count(*) AS holders FROM engine.jobs, unnest(limit_keys) AS key
        WHERE function_id = $1 AND claimed AND due_at > statement_timestamp() GROUP BY key
      ), due AS MATERIALIZED (
        SELECT id FROM engine.jobs WHERE function_id = $1 AND ${DUE} AND id <> ALL ($5::uuid[]) AND NOT EXISTS (
          SELECT 1 FROM unnest(limit_keys, $4::integer[]) AS own (key, most)
          JOIN held ON held.key = own.key WHERE held.holders >= own.most)
        ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
      ) ${TAKE}`,
    values: [functionId, now, leaseMs, limits, except],
  });
  const [row] = rows;
  return row ? readJob(row) : null;
}

function readJob({ event, ...job }: JobRow): Job {
  return { ...job, event: JSON.parse(event) };
}

/** Milliseconds until the next job of these functions falls due, if one lies ahead. */
export async function findNextDue(
  db: Connection,
  functionIds: readonly string[],
  now: Date,
): Promise<number | null> {
  const { rows } = await db.query<{ ms: number }>({
    name: "engine.next_due",
    text: `SELECT (extract(epoch FROM due_at
        - CASE WHEN claimed THEN statement_timestamp() ELSE $2::timestamptz END) * 1000)::float8 AS ms
      FROM engine.jobs
      WHERE function_id = ANY ($1) AND due_at > CASE WHEN claimed THEN statement_timestamp() ELSE $2::timestamptz END
      ORDER BY due_at LIMIT 1`,
    values: [functionIds, now],
  });
  return rows[0]?.ms ?? null;
}

/** Extends leases; returns the ids of those that are still held. */
export async function extendLeases(db: Connection, leases: Lease[], leaseMs: number): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>({
    name: "engine.extend",
    text: `UPDATE engine.jobs AS job SET due_at = statement_timestamp() + $3 * interval '1 millisecond'
      FROM unnest($1::uuid[], $2::integer[]) AS held (id, generation)
      WHERE job.id = held.id AND job.generation = held.generation AND job.claimed RETURNING job.id`,
    values: [leases.map((lease) => lease.id), leases.map((lease) => lease.generation), leaseMs],
  });
  return new Set(rows.map((row) => row.id));
}

/** Gives jobs back unfinished: any process may claim them at once, and it counts as no attempt. */
export async function releaseLeases(db: Connection, leases: Lease[], now: Date): Promise<void> {
  await db.query(
    `UPDATE engine.jobs AS job SET claimed = false, generation = job.generation + 1, due_at = $3
     FROM unnest($1::uuid[], $2::integer[]) AS held (id, generation)
     WHERE job.id = held.id AND job.generation = held.generation AND job.claimed`,
    [leases.map((lease) => lease.id), leases.map((lease) => lease.generation), now],
  );
}

// ── The memory of a run ─────────────────────────────────────────────────────────────────────────────────────────────

export type Memory = { id: string; state: StepMemo }[];

/**
 * What runs remember, and whether they have more than one job.
 * Always a statement of its own after the claim: a claim's snapshot may be older than the lock it got, and would miss
 * the last step of the previous holder, which would then run again.
 */
export async function recall(
  db: Connection,
  runIds: readonly string[],
): Promise<Map<string, { memo: Memory; busy: boolean }>> {
  const { rows } = await db.query<{ runId: string; busy: boolean; id: string | null; state: string | null }>({
    name: "engine.recall",
    text: `SELECT run.id AS "runId", step.id, step.state,
        (SELECT count(*) FROM engine.jobs WHERE run_id = run.id) > 1 AS busy
      FROM engine.runs AS run LEFT JOIN engine.steps AS step ON step.run_id = run.id
      WHERE run.id = ANY ($1) ORDER BY step.position`,
    values: [runIds],
  });
  const memories = new Map<string, { memo: Memory; busy: boolean }>();
  for (const { runId, busy, id, state } of rows) {
    const memory = memories.get(runId) ?? { memo: [], busy };
    if (id !== null && state !== null) memory.memo.push({ id, state: JSON.parse(state) });
    memories.set(runId, memory);
  }
  return memories;
}

/**
 * Saves steps of the job's run if the lease is still held; false when it is not.
 * The row lock on the job settles the race with a claimer: either these steps are committed before the new holder
 * reads the memory, or nothing is written.
 */
export async function saveCheckpoint(
  db: Connection,
  lease: Lease,
  steps: readonly NewStep[],
): Promise<boolean> {
  const { rows } = await db.query<{ held: boolean }>({
    name: "engine.checkpoint",
    text: `WITH held AS (
        SELECT run_id FROM engine.jobs WHERE id = $1 AND generation = $2 AND claimed FOR NO KEY UPDATE
      ), saved AS (
        INSERT INTO engine.steps (run_id, id, name, state)
        SELECT held.run_id, step.* FROM held, unnest($3::text[], $4::text[], $5::text[]) AS step
        ON CONFLICT DO NOTHING
      ) SELECT EXISTS (SELECT 1 FROM held) AS held`,
    values: [lease.id, lease.generation, ...stepColumns(steps)],
  });
  return rows[0]?.held ?? false;
}
