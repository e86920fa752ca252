import { z } from "zod";
import type { ApiKeyActor } from "@/server/base/actor";
import { defineQuery } from "@/server/base/db/statement";
import { readAtOnce } from "@/server/base/db/transaction";
import { isTerminal, type RunKind, STEP_STATUSES } from "@/server/contract/enums";
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

const STEP_COLUMNS = `key, child_run_id IS NOT NULL AS "hasCalled", step_number AS "stepNumber", iteration_number AS "iterationNumber", tool_name AS "toolName", status,
  input, output, reasoning, input_tokens AS "inputTokens", output_tokens AS "outputTokens", error_message AS "errorMessage",
  started_at AS "startedAt", finished_at AS "finishedAt", duration_ms AS "durationMs", started_event AS "startedEvent",
  finished_event AS "finishedEvent"`;

const READ_STEPS = defineQuery(
  "read-steps-of-events",
  step,
  `SELECT ${STEP_COLUMNS} FROM steps
   WHERE run_id = $1 AND (started_event BETWEEN $2 AND $3 OR finished_event BETWEEN $2 AND $3)`,
);
const READ_FINISHED_STEPS = defineQuery(
  "read-finished-steps",
  step,
  `SELECT ${STEP_COLUMNS} FROM steps WHERE run_id = $1 AND status IN ('Completed', 'Failed') ORDER BY step_number`,
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
const SIZE_STEPS = defineQuery(
  "size-of-event-steps",
  z.object({ bytes: z.number() }),
  `SELECT coalesce(sum(octet_length(input) + octet_length(coalesce(output, '')) + octet_length(reasoning)), 0)::float8 AS bytes
   FROM steps WHERE run_id = $1 AND (started_event BETWEEN $2 AND $3 OR finished_event BETWEEN $2 AND $3)`,
);

export type RunRef = { kind: RunKind; runId: string };
type Reading = { actor: ApiKeyActor; ref: RunRef; memory: StepMemory };

/** The state of a run with everything up to event `n`, without its end. Throws `not_found`. */
export async function readSnapshot(services: Pick<Services, "pool">, { actor, ref, memory }: Reading) {
  await memory.hold(await sizeOfSteps(services, actor.orgId, ref.runId));
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

/**
 * The next events after `since`, in order, and the run. `isWhole`: there were no others at that moment. `end`: the
 * number of the last event, if the run has ended. Throws `not_found`.
 */
export async function readEvents(
  services: Pick<Services, "pool">,
  { actor, ref, memory }: Reading,
  since: number,
) {
  const range = [ref.runId, since + 1, since + WINDOW];
  // Before the transaction: a wait for memory must not hold a connection.
  const [size] = await SIZE_STEPS(services.pool, range);
  await memory.hold(size?.bytes ?? 0);
  return readAtOnce(services.pool, async (client) => {
    const run = ownRun(actor, ref.kind, (await readRunRow(client, [ref.runId, actor.orgId, ref.kind]))[0]);
    const [last] = await READ_LAST(client, [run.id]);
    const before = lastStepEvent(run, last?.event ?? 0);
    const end = isTerminal(run.status) ? before + 1 : null;
    const to = end ?? before;
    if (to <= since) return { run, events: [], isWhole: true, end };
    const steps = await READ_STEPS(client, range);
    const waits = await READ_WAITS(client, range);
    const events = [
      ...firstEventsOf(run),
      ...waits.map(({ n, reason, until }) => waiting(n, { reason, until: until?.toISOString() ?? null })),
      ...steps.flatMap(eventsOfStep),
    ].filter(({ n }) => n > since && n <= since + WINDOW);
    events.sort((one, other) => one.n - other.n);
    return { run, events, isWhole: to <= since + WINDOW, end };
  });
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
