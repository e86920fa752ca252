import { z } from "zod";
import { decimalText } from "@/server/base/amount";
import { defineQuery } from "@/server/base/db/statement";
import { STEP_STATUSES } from "@/server/contract/enums";
import type { Services } from "@/server/runs/services";
import { attemptsBefore, toolCallList } from "../attempts";
import { openCallState } from "./call-state";
import { addTokens, type ClaimedRun } from "./claimed-run";
import { emptyJournal, type JournalContents } from "./write/journal-contents";

const startedRow = z.object({
  key: z.string(),
  status: z.enum(STEP_STATUSES),
  startedAt: z.date(),
  attempts: z.string(),
  credits: decimalText,
  sequence: z.number(),
});

const READ_CALLS = defineQuery(
  "read-journal-calls",
  startedRow.extend({
    content: z.string(),
    reasoning: z.string(),
    toolCalls: z.string(),
    stateSealed: z.instanceof(Buffer).nullable(),
    inputTokens: z.number(),
    outputTokens: z.number(),
  }),
  `SELECT key, status, started_at AS "startedAt", attempts, content, reasoning, tool_calls AS "toolCalls",
          state_sealed AS "stateSealed",
          input_tokens AS "inputTokens", output_tokens AS "outputTokens", credits, sequence
   FROM model_calls WHERE run_id = $1`,
);
const READ_STEPS = defineQuery(
  "read-journal-steps",
  startedRow.extend({
    stepNumber: z.number(),
    output: z.string().nullable(),
    actions: z.number(),
    startedEvent: z.number().nullable(),
    finishedEvent: z.number().nullable(),
  }),
  `SELECT started_event AS "startedEvent", finished_event AS "finishedEvent", key, status, started_at AS "startedAt", step_number AS "stepNumber",
          CASE WHEN status = 'Running' THEN attempts ELSE '[]' END AS attempts, output, actions, credits, sequence
   FROM steps WHERE run_id = $1`,
);

const READ_LAST_WAIT = defineQuery(
  "read-last-wait",
  z.object({ event: z.number() }),
  "SELECT coalesce(max(n), 0) AS event FROM run_events WHERE run_id = $1",
);

/** Returns true if this is the run's first claim and it takes nothing over. */
export function hasEmptyJournal({ epoch, configuration }: ClaimedRun): boolean {
  return epoch === 1 && configuration.fork === undefined;
}

export async function readJournal(services: Services, run: ClaimedRun): Promise<JournalContents> {
  const contents = emptyJournal();
  if (hasEmptyJournal(run)) return contents;
  const now = services.clock.now();
  const { totals } = contents;
  const calls = await READ_CALLS(services.pool, [run.id]);
  const steps = await READ_STEPS(services.pool, [run.id]);
  const [wait] = await READ_LAST_WAIT(services.pool, [run.id]);
  contents.lastEvent = wait?.event ?? 0;
  for (const { sequence, credits } of [...calls, ...steps]) {
    contents.sequence = Math.max(contents.sequence, sequence);
    totals.creditsUsed = totals.creditsUsed.add(credits);
  }
  for (const row of calls) {
    const { key, content, reasoning, inputTokens, outputTokens } = row;
    addTokens(totals, row);
    if (row.status === "Completed") {
      const toolCalls = toolCallList.parse(JSON.parse(row.toolCalls));
      const usage = { inputTokens, outputTokens };
      const state = openCallState(services, { run, key }, row.stateSealed);
      contents.calls.set(key, { content, reasoning, state, toolCalls, usage });
    } else {
      // A failed call may be repeated by the next worker; what it received is charged.
      contents.interrupted.set(key, attemptsBefore(row, run, now));
    }
  }
  for (const row of steps) {
    const { key, status, startedEvent, finishedEvent } = row;
    contents.stepNumbers.set(key, row.stepNumber);
    if (startedEvent !== null) contents.startedEvents.set(key, startedEvent);
    contents.lastEvent = Math.max(contents.lastEvent, startedEvent ?? 0, finishedEvent ?? 0);
    if (status === "Running") {
      contents.interrupted.set(key, attemptsBefore(row, run, now));
      contents.openSteps.set(key, row.startedAt);
    } else if (status === "Skipped") {
      contents.skipped.add(key);
    } else {
      totals.stepsExecuted += 1;
      totals.actionsUsed += row.actions;
      contents.steps.set(key, { output: row.output ?? "null", failed: status === "Failed" });
    }
  }
  return contents;
}

/**
 * Credits of all descendants of a run, and their number. `open` is still held, `ended` is already charged. `held` is the
 * run's hold at the same moment: a child that ends takes its usage out of the hold of its root.
 */
export const sumChildUsage = defineQuery(
  "sum-child-usage",
  z.object({ open: decimalText, ended: decimalText, count: z.number(), held: decimalText }),
  `WITH RECURSIVE tree AS (
     SELECT id, credits_used, finished_at FROM runs WHERE parent_run_id = $1
     UNION ALL
     SELECT c.id, c.credits_used, c.finished_at FROM runs c JOIN tree ON c.parent_run_id = tree.id)
   SELECT coalesce(sum(f.credits), 0)::text AS open,
          coalesce(sum(credits_used) FILTER (WHERE finished_at IS NOT NULL), 0)::text AS ended, count(*)::int AS count,
          (SELECT held::text FROM runs WHERE id = $1) AS held
   FROM tree CROSS JOIN LATERAL open_run_figures(tree.id, tree.finished_at IS NULL) f`,
);
