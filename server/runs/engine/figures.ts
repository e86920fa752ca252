import { z } from "zod";
import { Decimal, ZERO } from "@/server/credits/amount";
import type { Queryable } from "@/server/db/sql";
import type { Totals } from "./claimed-run";

/** The usage of open runs, summed from their journals: a run's own row is written only at its start and end. */

const TOTALS = {
  name: "run-totals",
  text: `
  SELECT run.id,
         coalesce(s.steps, 0)::int AS steps, coalesce(s.open_steps, 0)::int AS "openSteps", coalesce(s.actions, 0)::int AS actions,
         coalesce(c.input_tokens, 0)::int AS "inputTokens", coalesce(c.output_tokens, 0)::int AS "outputTokens",
         (coalesce(s.credits, 0) + coalesce(c.credits, 0))::text AS credits,
         greatest(coalesce(s.sequence, 0), coalesce(c.sequence, 0)) AS sequence
  FROM unnest($1::uuid[]) AS run (id)
  CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE status <> 'Running') AS steps, count(*) FILTER (WHERE status = 'Running') AS open_steps, sum(actions) AS actions, sum(credits) AS credits,
           max(sequence) AS sequence FROM steps WHERE run_id = run.id) s
  CROSS JOIN LATERAL (
    SELECT sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens, sum(credits) AS credits,
           max(sequence) AS sequence FROM model_calls WHERE run_id = run.id) c`,
};

const totalsRow = z.object({
  id: z.string(),
  steps: z.number(),
  openSteps: z.number(),
  actions: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  credits: z.string().transform((text) => new Decimal(text)),
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
  const none = { steps: 0, actions: 0, inputTokens: 0, outputTokens: 0, credits: ZERO };
  return figures.get(runId) ?? { totals: none, openSteps: 0, sequence: 0 };
}
