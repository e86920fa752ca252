import { z } from "zod";
import { Decimal, ZERO } from "@/server/credits/amount";
import type { Queryable } from "@/server/db/sql";
import type { Totals } from "./claimed-run";

/** What open runs have used, summed from their journals: a run's own row is written at its start and at its end. */

const TOTALS = {
  name: "run-totals",
  text: `
  SELECT run.id, f.steps, f.actions, f.input_tokens AS "inputTokens", f.output_tokens AS "outputTokens", f.credits::text AS credits,
         f.sequence
  FROM unnest($1::uuid[]) AS run (id) CROSS JOIN LATERAL open_run_figures(run.id, true) f`,
};

const totalsRow = z.object({
  id: z.string(),
  steps: z.number(),
  actions: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  credits: z.string().transform((text) => new Decimal(text)),
  sequence: z.number(),
});

export type OpenFigures = { totals: Totals; sequence: number };

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
      .map(({ id, sequence, ...totals }) => [id, { totals, sequence }]),
  );
}

/** Sums the journal of one run. */
export async function readTotals(client: Queryable, runId: string): Promise<OpenFigures> {
  const figures = await readOpenFigures(client, [runId]);
  const none = { steps: 0, actions: 0, inputTokens: 0, outputTokens: 0, credits: ZERO };
  return figures.get(runId) ?? { totals: none, sequence: 0 };
}
