import type { Pool, PoolClient } from "pg";
import { newId } from "@/server/ids";
import { discoveryStepId, type EngineEvent, type StepMemo } from "./protocol";

/**
 * The SQL of runs, their jobs, steps and events, over the tables of the schema `engine`; claims and leases are in
 * leases.ts. There is no other SQL in the engine.
 */
export type Connection = Pool | PoolClient;

export type JobKind = "discover" | "step" | "sleep" | "event" | "invoke";

/** A job as its claimer holds it; `generation` is the proof of holding it. */
export type Job = {
  id: string;
  runId: string;
  functionId: string;
  stepId: string;
  stepName: string;
  kind: JobKind;
  attempt: number;
  generation: number;
  event: EngineEvent;
};

/** What proves that a process holds a job. */
export type Lease = Pick<Job, "id" | "generation">;

export type NewRun = {
  id: string;
  functionId: string;
  event: EngineEvent;
  limitKeys: readonly string[];
  parent: { runId: string; stepId: string } | null;
};

export type NewJob = {
  stepId: string;
  stepName: string;
  kind: Exclude<JobKind, "discover">;
  dueInMs: number;
  /** Steps with the same one are waited for together. */
  cohort: string;
  eventName?: string;
  condition?: string | null;
};

export type NewStep = { id: string; name: string; state: StepMemo };

/** Runs `work` in one transaction; whatever it throws rolls everything back. */
export async function inTransaction<T>(pool: Pool, work: (tx: PoolClient) => Promise<T>): Promise<T> {
  const tx = await pool.connect();
  // A connection that breaks while it is checked out emits 'error', which nobody else listens to.
  const ignore = () => {};
  tx.on("error", ignore);
  let broken: unknown;
  try {
    await tx.query("BEGIN");
    const result = await work(tx);
    await tx.query("COMMIT");
    return result;
  } catch (error) {
    broken = await tx.query("ROLLBACK").then(
      () => undefined,
      (fault: unknown) => fault,
    );
    throw error;
  } finally {
    tx.off("error", ignore);
    tx.release(broken !== undefined);
  }
}

/** Adds finished steps to a run; a step that is already there keeps its first result. */
export async function insertSteps(tx: PoolClient, runId: string, steps: readonly NewStep[]): Promise<void> {
  if (steps.length === 0) return;
  await tx.query({
    name: "engine.insert_steps",
    text: `INSERT INTO engine.steps (run_id, id, name, state)
      SELECT $1, step.* FROM unnest($2::text[], $3::text[], $4::text[]) AS step ON CONFLICT DO NOTHING`,
    values: [runId, ...stepColumns(steps)],
  });
}

export function stepColumns(steps: readonly NewStep[]): [string[], string[], string[]] {
  return [
    steps.map((step) => step.id),
    steps.map((step) => step.name),
    steps.map((step) => JSON.stringify(step.state)),
  ];
}

// ── Runs and their jobs ─────────────────────────────────────────────────────────────────────────────────────────────

export type LockedRun = { id: string; functionId: string; event: EngineEvent };

/**
 * Locks an unfinished run until the transaction ends; null when it is finished or gone.
 * Whatever ends a job or adds one goes through this lock: two parallel steps that finish at once must not each
 * believe that the other is still under way, or nobody would carry on.
 */
export async function lockRun(tx: PoolClient, runId: string): Promise<LockedRun | null> {
  const { rows } = await tx.query<{ id: string; functionId: string; event: string }>({
    name: "engine.lock_run",
    text: `SELECT id, function_id AS "functionId", event FROM engine.runs
      WHERE id = $1 AND status = 'running' FOR NO KEY UPDATE`,
    values: [runId],
  });
  const [row] = rows;
  return row ? { ...row, event: JSON.parse(row.event) } : null;
}

/** Ends a job whose lease is still held; null when it is not, and then nothing of its outcome may be written. */
export async function takeJob(
  tx: PoolClient,
  lease: Lease,
): Promise<{ cohort: string; again: boolean } | null> {
  const { rows } = await tx.query<{ cohort: string; again: boolean }>({
    name: "engine.take_job",
    text: "DELETE FROM engine.jobs WHERE id = $1 AND generation = $2 AND claimed RETURNING cohort, again",
    values: [lease.id, lease.generation],
  });
  return rows[0] ?? null;
}

/** Ends the job that waits for a step of a run, whoever holds it; null when there is none any more. */
export async function takeWaitingJob(
  tx: PoolClient,
  runId: string,
  stepId: string,
): Promise<{ cohort: string; stepName: string } | null> {
  const { rows } = await tx.query<{ cohort: string; stepName: string }>(
    `DELETE FROM engine.jobs WHERE run_id = $1 AND step_id = $2 AND kind IN ('event', 'invoke')
     RETURNING cohort, step_name AS "stepName"`,
    [runId, stepId],
  );
  return rows[0] ?? null;
}

/** Puts a held job back for its next attempt; false when the lease is not held any more. */
export async function retryJob(tx: PoolClient, lease: Lease, dueAt: Date): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE engine.jobs SET claimed = false, attempt = attempt + 1, due_at = $3
     WHERE id = $1 AND generation = $2 AND claimed`,
    [lease.id, lease.generation, dueAt],
  );
  return rowCount === 1;
}

/** Adds jobs to a locked run. Steps that are finished or already waited for get none. */
export async function insertJobs(
  tx: PoolClient,
  run: LockedRun,
  jobs: readonly NewJob[],
  now: Date,
): Promise<void> {
  if (jobs.length === 0) return;
  await tx.query({
    name: "engine.insert_jobs",
    text: `INSERT INTO engine.jobs
        (id, run_id, function_id, step_id, step_name, kind, due_at, cohort, event_name, condition, limit_keys)
      SELECT job.id, run.id, run.function_id, job.step_id, job.step_name, job.kind, job.due_at, job.cohort,
        job.event_name, job.condition, CASE WHEN job.kind = 'step' THEN run.limit_keys ELSE '{}' END
      FROM engine.runs AS run,
        unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::uuid[], $8::text[], $9::text[])
          AS job (id, step_id, step_name, kind, due_at, cohort, event_name, condition)
      WHERE run.id = $1 AND NOT EXISTS (
        SELECT 1 FROM engine.steps AS step WHERE step.run_id = run.id AND step.id = job.step_id)
      ON CONFLICT (run_id, step_id) DO NOTHING`,
    values: [
      run.id,
      jobs.map(() => newId()),
      jobs.map((job) => job.stepId),
      jobs.map((job) => job.stepName),
      jobs.map((job) => job.kind),
      jobs.map((job) => new Date(now.getTime() + job.dueInMs)),
      jobs.map((job) => job.cohort),
      jobs.map((job) => job.eventName ?? null),
      jobs.map((job) => job.condition ?? null),
    ],
  });
}

/** When a locked run goes on: now, when its last job is gone, or when the last job of one cohort is. */
export type GoOn = "now" | "when idle" | { cohort: string };

/**
 * Lets a locked run go on, if it is time.
 * A discovery that is running did not see what was just settled: it is told to be followed by another one.
 */
export async function insertDiscovery(tx: PoolClient, runId: string, goOn: GoOn, now: Date): Promise<void> {
  await tx.query({
    name: "engine.insert_discovery",
    text: `INSERT INTO engine.jobs AS job
        (id, run_id, function_id, step_id, step_name, kind, due_at, cohort, limit_keys)
      SELECT $2, run.id, run.function_id, '${discoveryStepId}', '${discoveryStepId}', 'discover', $5, $2, run.limit_keys
      FROM engine.runs AS run
      WHERE run.id = $1 AND run.status = 'running' AND ($3 OR NOT EXISTS (
        SELECT 1 FROM engine.jobs AS other WHERE other.run_id = run.id AND ($4::uuid IS NULL OR other.cohort = $4)))
      ON CONFLICT (run_id, step_id) DO UPDATE SET again = job.claimed`,
    values: [runId, newId(), goOn === "now", typeof goOn === "object" ? goOn.cohort : null, now],
  });
}

/** Starts runs: each with its first job. */
export async function insertRuns(tx: PoolClient, runs: readonly NewRun[], now: Date): Promise<void> {
  if (runs.length === 0) return;
  await tx.query({
    name: "engine.insert_runs",
    text: `WITH run AS (
        INSERT INTO engine.runs
          (id, function_id, event_id, event, limit_keys, parent_run_id, parent_step_id, created_at)
        SELECT id, function_id, event_id, event, ARRAY(SELECT json_array_elements_text(limit_keys)),
          parent_run_id, parent_step_id, $9
        FROM unnest($1::uuid[], $3::text[], $4::text[], $5::text[], $6::json[], $7::uuid[], $8::text[])
          AS new (id, function_id, event_id, event, limit_keys, parent_run_id, parent_step_id)
        RETURNING id, function_id, limit_keys
      )
      INSERT INTO engine.jobs (id, run_id, function_id, step_id, step_name, kind, due_at, cohort, limit_keys)
      SELECT job.id, run.id, run.function_id, '${discoveryStepId}', '${discoveryStepId}', 'discover', $9, job.id,
        run.limit_keys
      FROM run JOIN unnest($1::uuid[], $2::uuid[]) AS job (run_id, id) ON job.run_id = run.id`,
    values: [
      runs.map((run) => run.id),
      runs.map(() => newId()),
      runs.map((run) => run.functionId),
      runs.map((run) => run.event.id),
      runs.map((run) => JSON.stringify(run.event)),
      runs.map((run) => JSON.stringify(run.limitKeys)),
      runs.map((run) => run.parent?.runId ?? null),
      runs.map((run) => run.parent?.stepId ?? null),
      now,
    ],
  });
}

/** Ends a locked run and all its jobs, whoever holds them; returns the step that waits for it, if one does. */
export async function finishRun(
  tx: PoolClient,
  runId: string,
  status: "completed" | "failed" | "cancelled",
  result: unknown,
  now: Date,
): Promise<NewRun["parent"]> {
  const { rows } = await tx.query<{ runId: string | null; stepId: string | null }>({
    name: "engine.finish_run",
    text: `WITH ended AS (DELETE FROM engine.jobs WHERE run_id = $1)
      UPDATE engine.runs SET status = $2, result = $3, finished_at = $4 WHERE id = $1
      RETURNING parent_run_id AS "runId", parent_step_id AS "stepId"`,
    values: [runId, status, JSON.stringify(result ?? null), now],
  });
  const { runId: parentId, stepId } = rows[0] ?? {};
  return parentId && stepId ? { runId: parentId, stepId } : null;
}

// ── Events ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Remembers events; returns the ids of those that were new. */
export async function insertEvents(
  tx: PoolClient,
  events: readonly EngineEvent[],
  now: Date,
): Promise<Set<string>> {
  const { rows } = await tx.query<{ id: string }>({
    name: "engine.insert_events",
    text: `INSERT INTO engine.events (id, name, received_at)
      SELECT id, name, $3 FROM unnest($1::text[], $2::text[]) AS event (id, name)
      ON CONFLICT DO NOTHING RETURNING id`,
    values: [events.map((event) => event.id), events.map((event) => event.name), now],
  });
  return new Set(rows.map((row) => row.id));
}

export type Waiting = {
  runId: string;
  stepId: string;
  eventName: string;
  condition: string | null;
  event: EngineEvent;
};

/** The steps that wait for events of these names, with the events that started their runs. */
export async function findWaiting(tx: PoolClient, eventNames: readonly string[]): Promise<Waiting[]> {
  const { rows } = await tx.query<Omit<Waiting, "event"> & { event: string }>({
    name: "engine.find_waiting",
    text: `SELECT job.run_id AS "runId", job.step_id AS "stepId", job.event_name AS "eventName", job.condition, run.event
      FROM engine.jobs AS job JOIN engine.runs AS run ON run.id = job.run_id
      WHERE job.event_name = ANY ($1) ORDER BY job.run_id, job.step_id`,
    values: [eventNames],
  });
  return rows.map((row) => ({ ...row, event: JSON.parse(row.event) }));
}

export type UnfinishedRun = { id: string; event: EngineEvent; createdAt: Date };

/** Unfinished runs of a function in the order of their ids, a page at a time. */
export async function findUnfinished(
  tx: PoolClient,
  functionId: string,
  after: string | null,
  count: number,
): Promise<UnfinishedRun[]> {
  const { rows } = await tx.query<{ id: string; event: string; createdAt: Date }>(
    `SELECT id, event, created_at AS "createdAt" FROM engine.runs
     WHERE function_id = $1 AND status = 'running' AND ($2::uuid IS NULL OR id > $2) ORDER BY id LIMIT $3`,
    [functionId, after, count],
  );
  return rows.map((row) => ({ ...row, event: JSON.parse(row.event) }));
}

/** Whether a run is unfinished; the id may be of another engine's making. */
export async function isUnfinished(db: Connection, runId: string): Promise<boolean> {
  const { rows } = await db.query(`SELECT 1 FROM engine.runs WHERE status = 'running' AND id::text = $1`, [
    runId,
  ]);
  return rows.length > 0;
}

/** What became of an event: the runs it started, oldest first, as far as they are still remembered. */
export type RunStatus = {
  id: string;
  functionId: string;
  status: "running" | "completed" | "failed" | "cancelled";
};

export async function findRunsOfEvent(db: Connection, eventId: string): Promise<RunStatus[]> {
  const { rows } = await db.query<RunStatus>(
    `SELECT id, function_id AS "functionId", status FROM engine.runs WHERE event_id = $1 ORDER BY id`,
    [eventId],
  );
  return rows;
}

/** Forgets runs that finished before `runsBefore` and event ids taken in before `eventsBefore`; returns how many rows. */
export async function prune(
  db: Connection,
  runsBefore: Date,
  eventsBefore: Date,
  count: number,
): Promise<number> {
  const runs = await db.query(
    `DELETE FROM engine.runs WHERE id IN (SELECT id FROM engine.runs
       WHERE finished_at < $1 ORDER BY finished_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
    [runsBefore, count],
  );
  const events = await db.query(
    `DELETE FROM engine.events WHERE id IN (SELECT id FROM engine.events
       WHERE received_at < $1 ORDER BY received_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
    [eventsBefore, count],
  );
  return (runs.rowCount ?? 0) + (events.rowCount ?? 0);
}
