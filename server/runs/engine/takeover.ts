import { z } from "zod";
import { Decimal, decimalText, ZERO } from "@/server/credits/amount";
import type { Services } from "@/server/services";
import { attemptsBefore } from "../attempts";
import type { ClaimedRun } from "./claimed-run";
import { readOpenFigures } from "./figures";
import { emptyJournal, type JournalContents } from "./write/journal";

/** Reads a run's journal and what its child runs have used, for the worker that continues it. */

const toolCalls = z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() }));
const begunRow = z.object({
  key: z.string(),
  status: z.enum(["Running", "Completed", "Failed"]),
  startedAt: z.date(),
  attempts: z.string(),
  credits: decimalText,
  sequence: z.number(),
});
type BegunRow = z.infer<typeof begunRow>;
const callRow = begunRow.extend({
  content: z.string(),
  toolCalls: z.string(),
  inputTokens: z.number(),
  outputTokens: z.number(),
});
const stepRow = begunRow.extend({
  stepNumber: z.number(),
  output: z.string().nullable(),
  actions: z.number(),
});

/** The journal of a claimed run; empty if it is its first claim. */
export async function readJournal(services: Services, run: ClaimedRun): Promise<JournalContents> {
  const contents = emptyJournal();
  if (run.epoch === 1) return contents;
  const now = services.clock.now();
  const { calls, steps, interrupted, totals } = contents;
  const interrupt = (row: BegunRow) => {
    interrupted.set(row.key, attemptsBefore(row, run, now));
  };
  const found = await services.pool.query(
    `SELECT key, status, started_at AS "startedAt", attempts, content, tool_calls AS "toolCalls",
            input_tokens AS "inputTokens", output_tokens AS "outputTokens", credits, sequence
     FROM model_calls WHERE run_id = $1`,
    [run.id],
  );
  for (const row of z.array(callRow).parse(found.rows)) {
    contents.sequence = Math.max(contents.sequence, row.sequence);
    totals.inputTokens += row.inputTokens;
    totals.outputTokens += row.outputTokens;
    totals.creditsUsed = totals.creditsUsed.add(row.credits);
    if (row.status !== "Completed") {
      interrupt(row);
      continue;
    }
    calls.set(row.key, {
      key: row.key,
      content: row.content,
      toolCalls: toolCalls.parse(JSON.parse(row.toolCalls)),
      usage: { inputTokens: row.inputTokens, outputTokens: row.outputTokens },
    });
  }
  const begunSteps = await services.pool.query(
    `SELECT key, status, started_at AS "startedAt", step_number AS "stepNumber",
            CASE WHEN status = 'Running' THEN attempts ELSE '[]' END AS attempts, output, actions, credits, sequence
     FROM steps WHERE run_id = $1`,
    [run.id],
  );
  for (const row of z.array(stepRow).parse(begunSteps.rows)) {
    contents.sequence = Math.max(contents.sequence, row.sequence);
    contents.stepNumbers.set(row.key, row.stepNumber);
    if (row.status === "Running") {
      interrupt(row);
      contents.openSteps.set(row.key, row.startedAt);
      continue;
    }
    totals.stepsExecuted += 1;
    totals.actionsUsed += row.actions;
    totals.creditsUsed = totals.creditsUsed.add(row.credits);
    const failed = row.status === "Failed";
    steps.set(row.key, { key: row.key, stepNumber: row.stepNumber, output: row.output ?? "null", failed });
  }
  return contents;
}

/**
 * What all child runs below a run have used: the open ones out of the hold, the ended ones charged. `count`: how many there
 * are.
 */
export async function readChildUsage(
  { pool }: Services,
  runId: string,
): Promise<{ open: Decimal; ended: Decimal; count: number }> {
  const { rows } = await pool.query<{ id: string; credits: string; open: boolean }>(
    `WITH RECURSIVE tree AS (
       SELECT id, credits_used, finished_at FROM runs WHERE parent_run_id = $1
       UNION ALL
       SELECT c.id, c.credits_used, c.finished_at FROM runs c JOIN tree ON c.parent_run_id = tree.id)
     SELECT id, credits_used AS credits, finished_at IS NULL AS open FROM tree`,
    [runId],
  );
  const figures = await readOpenFigures(
    pool,
    rows.filter(({ open }) => open).map(({ id }) => id),
  );
  let open = ZERO;
  let ended = ZERO;
  for (const row of rows) {
    if (row.open) open = open.add(figures.get(row.id)?.totals.creditsUsed ?? ZERO);
    else ended = ended.add(new Decimal(row.credits));
  }
  return { open, ended, count: rows.length };
}
