import { z } from "zod";
import { decimalText } from "@/server/credits/amount";
import type { Queryable } from "@/server/db/sql";
import { noTotals, type Totals } from "./claimed-run";

/** The usage of open runs, summed from their journals: a run's own row is written only at its start and end. */

/** Joined to rows named `run`. */
export const OPEN_FIGURES = `
  CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE status <> 'Running')::int AS steps, count(*) FILTER (WHERE status = 'Running')::int AS open_steps,
           coalesce(sum(actions), 0)::int AS actions, coalesce(sum(credits), 0) AS credits, coalesce(max(sequence), 0) AS sequence
    FROM steps WHERE run_id = run.id) s
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(input_tokens), 0)::int AS input_tokens, coalesce(sum(output_tokens), 0)::int AS output_tokens,
           coalesce(sum(credits), 0) AS credits, coalesce(max(sequence), 0) AS sequence
    FROM model_calls WHERE run_id = run.id) c`;

const TOTALS = {
  name: "run-totals",
  text: `
  SELECT run.id, s.steps AS "stepsExecuted", s.open_steps AS "openSteps", s.actions AS "actionsUsed",
         c.input_tokens AS "inputTokens", c.output_tokens AS "outputTokens", (s.credits + c.credits)::text AS "creditsUsed",
         greatest(s.sequence, c.sequence) AS sequence
  FROM unnest($1::uuid[]) AS run (id) ${OPEN_FIGURES}`,
};

const totalsRow = z.object({
  id: z.string(),
  stepsExecuted: z.number(),
  openSteps: z.number(),
  actionsUsed: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  creditsUsed: decimalText,
  sequence: z.number(),
});

export type OpenFigures = {
  totals: Totals;
  /** Open steps. */
  openSteps: number;
  sequence: number;
};

/** Sums the journals of runs; `sequence` is that of the newest row. One statement. */
export async function readOpenFigures(
  client: Queryable,
  runIds: readonly string[],
): Promise<Map<string, OpenFigures>> {
  if (runIds.length === 0) return new Map();
  const { rows } = await client.query({ ...TOTALS, values: [runIds] });
  return new Map(
    z
      .array(totalsRow)
      .parse(rows)
      .map(({ id, sequence, openSteps, ...totals }) => [id, { totals, openSteps, sequence }]),
  );
}

export async function readTotals(client: Queryable, runId: string): Promise<OpenFigures> {
  const figures = await readOpenFigures(client, [runId]);
  return figures.get(runId) ?? { totals: noTotals(), openSteps: 0, sequence: 0 };
}
