import { z } from "zod";
import type { ApiKeyActor } from "@/server/base/actor";
import { defineQuery } from "@/server/base/db/statement";
import { readAtOnce } from "@/server/base/db/transaction";
import { isTerminal, type RunKind, STEP_STATUSES } from "@/server/contract/enums";
import { MIB } from "@/server/contract/sizes";
import type { StepMemory } from "@/server/guard/limits/process-memory";
import { firstEvents } from "@/server/runs/engine/claimed-run";
import type { RunFacts } from "@/server/runs/run-facts";
import type { Services } from "@/server/runs/services";
import { ownRun, readRunRow, sizeOfSteps } from "../read-run";

/**
 * The events of a run, read from its rows (docs/api.md). Each has a number, from 1 without gaps: those of
 * steps are in their rows, waits in `run_events`, the others follow from the run's own row.
 */
export type RunEvent = {
  n: number;
  type: string;
  data: object;
  /** Of the completion of a step that called a run. */
  call?: StepCall;
};
/** A step that calls runs; `n` is the number of the event that it started with. */
export type StepCall = { n: number; key: string; stepNumber: number };

const WINDOW = 100;
// Unless one event is larger.
const WINDOW_BYTES = MIB;

const step = z.object({
  key: z.string(),
  hasCalled: z.boolean(),
  stepNumber: z.number(),
  iterationNumber: z.number(),
  toolName: z.string(),
  status: z.enum(STEP_STATUSES),
  input: z.string(),
  output: z.string().nullable(),
  reasoning: z.string(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  errorMessage: z.string().nullable(),
  startedAt: z.date(),
  finishedAt: z.date().nullable(),
  durationMs: z.number().nullable(),
  startedEvent: z.number().nullable(),
  finishedEvent: z.number().nullable(),
});
export type EventStep = z.infer<typeof step>;

const columns = (
  output = "output",
  reasoning = "reasoning",
) => `key, child_run_id IS NOT NULL AS "hasCalled", step_number AS "stepNumber", iteration_number AS "iterationNumber", tool_name AS "toolName", status,
  input, ${output} AS output, ${reasoning} AS reasoning, input_tokens AS "inputTokens", output_tokens AS "outputTokens", error_message AS "errorMessage",
  started_at AS "startedAt", finished_at AS "finishedAt", duration_ms AS "durationMs", started_event AS "startedEvent",
  finished_event AS "finishedEvent"`;

const READ_STEPS = defineQuery(
  "read-steps-of-events",
  step,
  // Texts of steps that finish in a later window are not read.
  `SELECT ${columns("CASE WHEN finished_event BETWEEN $2 AND $3 THEN output END", "CASE WHEN finished_event BETWEEN $2 AND $3 THEN reasoning ELSE '' END")} FROM steps
   WHERE run_id = $1 AND (started_event BETWEEN $2 AND $3 OR finished_event BETWEEN $2 AND $3)`,
);
const READ_FINISHED_STEPS = defineQuery(
  "read-finished-steps",
  step,
  `SELECT ${columns()} FROM steps WHERE run_id = $1 AND status IN ('Completed', 'Failed') ORDER BY step_number`,
);
const READ_WAITS = defineQuery(
  "read-waits",
  z.object({ n: z.number(), reason: z.string(), until: z.date().nullable() }),
  "SELECT n, reason, until FROM run_events WHERE run_id = $1 AND n BETWEEN $2 AND $3",
);
/** The number of the last event with a row. */
const READ_LAST = defineQuery(
  "read-last-event",
  z.object({ event: z.number() }),
  `SELECT greatest(coalesce(max(greatest(started_event, finished_event)), 0),
                   (SELECT coalesce(max(n), 0) FROM run_events WHERE run_id = $1)) AS event
   FROM steps WHERE run_id = $1`,
);
/** The first row, without a number, is that of an ended run. */
const SIZE_EVENTS = defineQuery(
  "size-of-events",
  z.object({ n: z.number().nullable(), bytes: z.number() }),
  `SELECT NULL AS n, octet_length(input) + octet_length(coalesce(output, '')) AS bytes
   FROM runs WHERE id = $1 AND organization_id = $4 AND finished_at IS NOT NULL
   UNION ALL
   SELECT event.n, event.bytes FROM steps CROSS JOIN LATERAL (VALUES
     (started_event, octet_length(input)),
     (finished_event, octet_length(input) + octet_length(coalesce(output, '')) + octet_length(reasoning))
   ) AS event (n, bytes)
   WHERE run_id = $1 AND organization_id = $4 AND (started_event BETWEEN $2 AND $3 OR finished_event BETWEEN $2 AND $3) AND event.n BETWEEN $2 AND $3
   ORDER BY n NULLS FIRST`,
);
const SIZE_RUN = defineQuery(
  "size-of-run",
  z.object({ bytes: z.number() }),
  `SELECT octet_length(input) + octet_length(coalesce(output, '')) AS bytes FROM runs WHERE id = $1 AND organization_id = $2`,
);

export type RunRef = { kind: RunKind; runId: string };
type Reading = { actor: ApiKeyActor; ref: RunRef; memory: StepMemory; signal: AbortSignal };

/** The state of a run with everything up to event `n`, without its end. Throws `not_found`. */
export async function readSnapshot(
  services: Pick<Services, "pool">,
  { actor, ref, memory, signal }: Reading,
) {
  const [run] = await SIZE_RUN(services.pool, [ref.runId, actor.orgId]);
  const steps = await sizeOfSteps(services, actor.orgId, ref.runId);
  await memory.holdUnread(steps + (run?.bytes ?? 0), signal);
  return readAtOnce(services.pool, async (client) => {
    const run = ownRun(actor, ref.kind, (await readRunRow(client, [ref.runId, actor.orgId, ref.kind]))[0]);
    const [last] = await READ_LAST(client, [run.id]);
    return {
      run,
      n: lastStepEvent(run, last?.event ?? 0),
      steps: await READ_FINISHED_STEPS(client, [run.id]),
    };
  });
}

const lastStepEvent = (run: RunFacts, lastRow: number) => Math.max(firstEvents(run), lastRow);

/** The number of the last event of an ended run. */
export async function readEnd({ pool }: Pick<Services, "pool">, run: RunFacts): Promise<number> {
  const [last] = await READ_LAST(pool, [run.id]);
  return lastStepEvent(run, last?.event ?? 0) + 1;
}

/**
 * The next events after `since`, in order, and the run. `isWhole`: there were no others at that moment. `end`: the
 * number of the last event, if the run has ended. Throws `not_found`.
 */
export async function readEvents(
  services: Pick<Services, "pool">,
  { actor, ref, memory, signal }: Reading,
  since: number,
) {
  const { last, bytes } = cutWindow(
    await SIZE_EVENTS(services.pool, [ref.runId, since + 1, since + WINDOW, actor.orgId]),
    since,
  );
  const range = [ref.runId, since + 1, last];
  // Before the transaction: a wait for memory must not hold a connection.
  await memory.holdUnread(bytes, signal);
  return readAtOnce(services.pool, async (client) => {
    const run = ownRun(actor, ref.kind, (await readRunRow(client, [ref.runId, actor.orgId, ref.kind]))[0]);
    const [lastRow] = await READ_LAST(client, [run.id]);
    const before = lastStepEvent(run, lastRow?.event ?? 0);
    const end = isTerminal(run.status) ? before + 1 : null;
    const to = end ?? before;
    if (to <= since) return { run, events: [], isWhole: true, end };
    const steps = await READ_STEPS(client, range);
    const waits = await READ_WAITS(client, range);
    const events = [
      ...firstEventsOf(run),
      ...waits.map(({ n, reason, until }) => waiting(n, { reason, until: until?.toISOString() ?? null })),
      ...steps.flatMap(eventsOfStep),
    ].filter(({ n }) => n > since && n <= last);
    events.sort((one, other) => one.n - other.n);
    return { run, events, isWhole: to <= last, end };
  });
}

/** The number of the last event of a window, and the bytes of its events and of the ended run. */
function cutWindow(sizes: { n: number | null; bytes: number }[], since: number) {
  let ofRun = 0;
  let ofEvents = 0;
  for (const { n, bytes } of sizes) {
    if (n === null) ofRun = bytes;
    else if (ofEvents > 0 && ofEvents + bytes > WINDOW_BYTES) return { last: n - 1, bytes: ofRun + ofEvents };
    else ofEvents += bytes;
  }
  return { last: since + WINDOW, bytes: ofRun + ofEvents };
}

const waiting = (n: number, data: { reason: string; until: string | null }): RunEvent => ({
  n,
  type: "run.waiting",
  data,
});

function firstEventsOf(run: RunFacts): RunEvent[] {
  const running = firstEvents(run);
  const waited = waiting(1, { reason: "slot", until: null });
  if (run.startedAt === null) return [waited];
  const started = { n: running, type: "run.running", data: { startedAt: run.startedAt.toISOString() } };
  return running === 1 ? [started] : [waited, started];
}

function eventsOfStep(row: EventStep): RunEvent[] {
  const events: RunEvent[] = [];
  const { stepNumber, iterationNumber, toolName, input, startedAt } = row;
  if (row.startedEvent !== null) {
    const data = {
      stepNumber,
      iterationNumber,
      toolName,
      inputData: input,
      startedAt: startedAt.toISOString(),
    };
    events.push({ n: row.startedEvent, type: "step.started", data });
  }
  if (row.finishedEvent !== null && row.status !== "Running") {
    const { finishedEvent: n, startedEvent, key } = row;
    const call = row.hasCalled && startedEvent !== null ? { n: startedEvent, key, stepNumber } : null;
    events.push({ n, type: "step.completed", data: finishedStep(row), ...(call && { call }) });
  }
  return events;
}

/** A step as in the details of an agent run, with its status and error. */
export function finishedStep(row: EventStep) {
  return {
    stepNumber: row.stepNumber,
    iterationNumber: row.iterationNumber,
    toolName: row.toolName,
    status: row.status,
    inputData: row.input,
    outputData: row.output ?? "null",
    errorMessage: row.errorMessage,
    reasoning: row.reasoning,
    tokenUsage: { inputTokens: row.inputTokens, outputTokens: row.outputTokens },
    duration: row.durationMs ?? 0,
  };
}
