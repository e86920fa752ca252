import type { QueryConfig, QueryResultRow } from "pg";
import { z } from "zod";
import type { Decimal } from "@/server/credits/amount";
import { outlast } from "@/server/db/outage";
import { transact } from "@/server/db/sql";
import { newId } from "@/server/ids";
import { ringRun } from "@/server/live/doorbell";
import type { Attempt, ModelReply, ToolCall } from "@/server/models/port";
import { replaceNul } from "@/server/secrets/stored-output";
import type { Services } from "@/server/services";
import { attemptsBefore } from "./attempts";
import type { ClaimedRun } from "./lifecycle";

/**
 * The rows of a run's model calls and steps: the truth about what has finished. A finished row is never executed
 * again; writing it, counting it and charging it is one statement, fenced by the run's epoch (engine.md, "The
 * step row is the truth"). The run's row is locked before any of its steps', here and in lifecycle.ts.
 */

/** Another worker owns the run now, or it has ended: this one must stop without a word. */
export class RunLost extends Error {
  override name = "RunLost";
}

/** How long a write waits for a database that is away. */
const OUTLAST_MS = 60_000;

/**
 * Writes to the journal. What was done outside is not done again because the database was away when its row was due:
 * each statement may be repeated, and one whose commit was not confirmed is refused or changes nothing.
 */
function write<Row extends QueryResultRow>(
  services: Services,
  run: ClaimedRun,
  statement: QueryConfig,
): Promise<{ rows: Row[] }> {
  let tries = 0;
  const tryOnce = () => {
    tries += 1;
    return tries === 1
      ? services.pool.query<Row>(statement)
      : writeAfterOthers<Row>(services, run, statement);
  };
  return outlast(tryOnce, AbortSignal.timeout(OUTLAST_MS));
}

/**
 * The first try may be about to commit on a connection that broke: its end is waited for before the statement looks at
 * rows, or it would take a step for open that is not and charge it twice.
 */
function writeAfterOthers<Row extends QueryResultRow>(
  { pool }: Services,
  run: ClaimedRun,
  statement: QueryConfig,
): Promise<{ rows: Row[] }> {
  return transact(pool, async (client) => {
    await client.query("SELECT FROM runs WHERE id = $1 FOR UPDATE", [run.id]);
    return client.query<Row>(statement);
  });
}

export type StoredModelCall = {
  key: string;
  content: string;
  toolCalls: ToolCall[];
  usage: { inputTokens: number; outputTokens: number };
};
export type StoredStep = { key: string; stepNumber: number; output: string; failed: boolean };

const storedToolCalls = z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() }));

/** What a run has finished so far, and the tries of what was begun and not finished. Read when a worker takes over a run. */
export async function readJournal(services: Services, run: ClaimedRun) {
  const modelCalls = new Map<string, StoredModelCall>();
  const steps = new Map<string, StoredStep>();
  // Keys of model calls and of steps differ: `think-1`, `call-1-1`, `call-1-1/model-1-1`.
  const interrupted = new Map<string, Attempt[]>();
  if (run.epoch === 1) return { modelCalls, steps, interrupted };
  const now = services.clock.now();
  const calls = await services.pool.query<
    Begun & { content: string; tool_calls: string; input_tokens: number; output_tokens: number }
  >(
    `SELECT key, status, started_at, attempts, content, tool_calls, input_tokens, output_tokens FROM model_calls WHERE run_id = $1`,
    [run.id],
  );
  for (const row of calls.rows) {
    if (row.status !== "Completed") {
      interrupted.set(row.key, attemptsBefore(row, run, now));
      continue;
    }
    const toolCalls = storedToolCalls.parse(JSON.parse(row.tool_calls));
    const usage = { inputTokens: row.input_tokens, outputTokens: row.output_tokens };
    modelCalls.set(row.key, { key: row.key, content: row.content, toolCalls, usage });
  }
  const begun = await services.pool.query<Begun & { step_number: number; output: string }>(
    `SELECT key, status, started_at, CASE WHEN status = 'Running' THEN attempts END AS attempts, step_number, output
     FROM steps WHERE run_id = $1`,
    [run.id],
  );
  for (const row of begun.rows) {
    if (row.status === "Running") {
      interrupted.set(row.key, attemptsBefore(row, run, now));
      continue;
    }
    const failed = row.status === "Failed";
    steps.set(row.key, { key: row.key, stepNumber: row.step_number, output: row.output, failed });
  }
  return { modelCalls, steps, interrupted };
}

type Begun = {
  key: string;
  status: "Running" | "Completed" | "Failed";
  started_at: Date;
  attempts: string;
};

const BEGIN_MODEL_CALL = {
  name: "begin-model-call",
  text: `
  WITH run AS (
    UPDATE runs SET sequence = sequence + 1, heartbeat_at = $3
    WHERE id = $1 AND epoch = $2 AND status = 'Running' RETURNING organization_id, sequence
  )
  INSERT INTO model_calls (id, organization_id, run_id, key, iteration_number, provider, model, started_at, attempts,
                           sequence)
  SELECT $4, organization_id, $1, $5, $6, $7, $8, $3, $9, sequence FROM run
  ON CONFLICT (run_id, key) DO UPDATE
  SET status = 'Running', finished_at = NULL, duration_ms = NULL,
      content = '', error_message = NULL, attempts = EXCLUDED.attempts, sequence = EXCLUDED.sequence
  WHERE model_calls.status <> 'Completed'
  RETURNING sequence`,
};

/**
 * Writes that a model call begins, so that pages show it. One that failed begins anew: the process died before
 * anything came of the failure. Throws RunLost.
 */
export async function beginModelCall(
  services: Services,
  run: ClaimedRun,
  call: { key: string; iteration: number; provider: string; model: string; attempts: Attempt[] },
): Promise<void> {
  const values = [
    run.id,
    run.epoch,
    services.clock.now(),
    newId(),
    call.key,
    call.iteration,
    call.provider,
    call.model,
    JSON.stringify(call.attempts),
  ];
  const { rows } = await write<{ sequence: number }>(services, run, { ...BEGIN_MODEL_CALL, values });
  announce(services, run, rows[0]?.sequence);
}

const FINISH_MODEL_CALL = {
  name: "finish-model-call",
  text: `
  WITH run AS (
    UPDATE runs SET sequence = sequence + 1, heartbeat_at = $3, input_tokens = input_tokens + $5,
                    output_tokens = output_tokens + $6, credits_used = credits_used + $7::numeric
    WHERE id = $1 AND epoch = $2 AND status = 'Running'
      AND EXISTS (SELECT 1 FROM model_calls WHERE run_id = $1 AND key = $4 AND status = 'Running')
    RETURNING sequence
  )
  UPDATE model_calls m SET status = $8::step_status, content = $9, tool_calls = $10, finish_reason = $11,
         input_tokens = $5, output_tokens = $6, estimated = $12, credits = $7::numeric, error_message = $13,
         attempts = $14, finished_at = $3, sequence = run.sequence,
         duration_ms = greatest(0, round(extract(epoch FROM $3 - m.started_at) * 1000))::int
  FROM run WHERE m.run_id = $1 AND m.key = $4 RETURNING m.sequence`,
};

/**
 * Writes the tries of a running step or model call before another one is waited for, so that pages show them. Throws
 * RunLost.
 */
export async function noteAttempts(
  services: Services,
  run: ClaimedRun,
  table: "steps" | "model_calls",
  key: string,
  attempts: Attempt[],
): Promise<void> {
  const { rows } = await write<{ sequence: number }>(services, run, {
    text: `
    WITH run AS (
      UPDATE runs SET sequence = sequence + 1, heartbeat_at = $3
      WHERE id = $1 AND epoch = $2 AND status = 'Running' RETURNING sequence
    )
    UPDATE ${table} t SET attempts = $5, sequence = run.sequence
    FROM run WHERE t.run_id = $1 AND t.key = $4 AND t.status = 'Running' RETURNING t.sequence`,
    values: [run.id, run.epoch, services.clock.now(), key, JSON.stringify(attempts)],
  });
  announce(services, run, rows[0]?.sequence);
}

const NOTE_TEXT = {
  name: "note-text",
  text: `
  WITH run AS (
    UPDATE runs SET sequence = sequence + 1, heartbeat_at = $3
    WHERE id = $1 AND epoch = $2 AND status = 'Running' RETURNING sequence
  )
  UPDATE model_calls m SET content = $5, sequence = run.sequence
  FROM run WHERE m.run_id = $1 AND m.key = $4 AND m.status = 'Running' RETURNING m.sequence`,
};

/** Writes what the model has said so far in a running call, so that pages show it. Throws RunLost, and what the database says. */
export async function noteText(
  services: Services,
  run: ClaimedRun,
  key: string,
  text: string,
): Promise<void> {
  const values = [run.id, run.epoch, services.clock.now(), key, replaceNul(text)];
  const { rows } = await services.pool.query<{ sequence: number }>({ ...NOTE_TEXT, values });
  announce(services, run, rows[0]?.sequence);
}

/** Commits a model call's reply, its usage and its price. Throws RunLost. */
export async function finishModelCall(
  services: Services,
  run: ClaimedRun,
  key: string,
  result: { reply: ModelReply; credits: Decimal } | { error: string; attempts: Attempt[] },
): Promise<void> {
  const reply = "reply" in result ? result.reply : undefined;
  const values = [
    run.id,
    run.epoch,
    services.clock.now(),
    key,
    reply?.usage.inputTokens ?? 0,
    reply?.usage.outputTokens ?? 0,
    "credits" in result ? result.credits.toFixed(4) : "0",
    reply === undefined ? "Failed" : "Completed",
    reply?.content ?? "",
    JSON.stringify(reply?.toolCalls ?? []),
    reply?.finishReason ?? null,
    reply?.usage.estimated ?? false,
    "error" in result ? result.error : null,
    JSON.stringify(reply?.attempts ?? ("attempts" in result ? result.attempts : [])),
  ];
  const { rows } = await write<{ sequence: number }>(services, run, { ...FINISH_MODEL_CALL, values });
  announce(services, run, rows[0]?.sequence);
}

export type NewStep = {
  key: string;
  stepNumber: number;
  iteration: number;
  toolName: string;
  /** JSON text. */
  input: string;
  reasoning: string;
  /** The iteration's usage; the same on all steps of one iteration. */
  usage: { inputTokens: number; outputTokens: number };
  /** The id that a child run of this step would have; kept from the first try on. */
  childRunId: string | null;
  /** Tries of an earlier worker. */
  attempts: Attempt[];
};

const BEGIN_STEPS = {
  name: "begin-steps",
  text: `
  WITH run AS (
    UPDATE runs SET sequence = sequence + 1, heartbeat_at = $3
    WHERE id = $1 AND epoch = $2 AND status = 'Running' RETURNING organization_id, sequence
  )
  INSERT INTO steps (id, organization_id, run_id, key, step_number, iteration_number, tool_name, input, reasoning,
                     input_tokens, output_tokens, child_run_id, attempts, started_at, sequence)
  SELECT s.id, run.organization_id, $1, s.key, s.step_number, s.iteration, s.tool_name, s.input, s.reasoning,
         s.input_tokens, s.output_tokens, s.child_run_id, s.attempts, $3, run.sequence
  FROM run, unnest($4::uuid[], $5::text[], $6::int[], $7::int[], $8::text[], $9::text[], $10::text[], $11::int[],
                   $12::int[], $13::uuid[], $14::text[])
    AS s (id, key, step_number, iteration, tool_name, input, reasoning, input_tokens, output_tokens, child_run_id, attempts)
  ON CONFLICT (run_id, key) DO UPDATE
  SET attempts = EXCLUDED.attempts, sequence = EXCLUDED.sequence
  WHERE steps.status = 'Running'
  RETURNING sequence, key, child_run_id`,
};

/** Writes that steps begin, all in one statement. Returns the child run ids by step key. Throws RunLost. */
export async function beginSteps(
  services: Services,
  run: ClaimedRun,
  steps: NewStep[],
): Promise<Map<string, string | null>> {
  if (steps.length === 0) return new Map();
  const values = [
    run.id,
    run.epoch,
    services.clock.now(),
    steps.map(() => newId()),
    steps.map((step) => step.key),
    steps.map((step) => step.stepNumber),
    steps.map((step) => step.iteration),
    steps.map((step) => step.toolName),
    steps.map((step) => step.input),
    steps.map((step) => step.reasoning),
    steps.map((step) => step.usage.inputTokens),
    steps.map((step) => step.usage.outputTokens),
    steps.map((step) => step.childRunId),
    steps.map((step) => JSON.stringify(step.attempts)),
  ];
  const { rows } = await write<{ sequence: number; key: string; child_run_id: string | null }>(
    services,
    run,
    {
      ...BEGIN_STEPS,
      values,
    },
  );
  announce(services, run, rows[0]?.sequence);
  return new Map(rows.map((row) => [row.key, row.child_run_id]));
}

export type StepResult = {
  /** JSON text, cut and redacted. */
  output: string;
  /** Why it failed; null when it did not. */
  error: string | null;
  /** 1 when a function or tool was executed, 0 when the call never got that far. */
  actions: number;
  credits: Decimal;
  attempts: Attempt[];
};

const FINISH_STEP = {
  name: "finish-step",
  text: `
  WITH run AS (
    UPDATE runs SET sequence = sequence + 1, heartbeat_at = $3, steps_executed = steps_executed + 1,
                    actions_used = actions_used + $5, credits_used = credits_used + $6::numeric
    WHERE id = $1 AND epoch = $2 AND status = 'Running'
      AND EXISTS (SELECT 1 FROM steps WHERE run_id = $1 AND key = $4 AND status = 'Running')
    RETURNING sequence
  )
  UPDATE steps s SET status = $7::step_status, output = $8, error_message = $9, actions = $5, credits = $6::numeric,
         attempts = $10, finished_at = $3, sequence = run.sequence,
         duration_ms = greatest(0, round(extract(epoch FROM $3 - s.started_at) * 1000))::int
  FROM run WHERE s.run_id = $1 AND s.key = $4 RETURNING s.sequence`,
};

/** Commits a step's result, its action and its price. After this it is never executed again. Throws RunLost. */
export async function finishStep(
  services: Services,
  run: ClaimedRun,
  key: string,
  result: StepResult,
): Promise<void> {
  const values = [
    run.id,
    run.epoch,
    services.clock.now(),
    key,
    result.actions,
    result.credits.toFixed(4),
    result.error === null ? "Completed" : "Failed",
    result.output,
    result.error,
    JSON.stringify(result.attempts),
  ];
  const { rows } = await write<{ sequence: number }>(services, run, { ...FINISH_STEP, values });
  announce(services, run, rows[0]?.sequence);
}

function announce(services: Services, run: ClaimedRun, sequence: number | undefined): void {
  if (sequence === undefined) throw new RunLost(`run ${run.id} is no longer this worker's`);
  ringRun(services, run.orgId, run.id, sequence);
}
