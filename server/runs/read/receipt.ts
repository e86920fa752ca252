import { createHash } from "node:crypto";
import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import { type Decimal, decimalText, ZERO } from "@/server/base/amount";
import { defineQuery } from "@/server/base/db/statement";
import { readAtOnce } from "@/server/base/db/transaction";
import { AppError } from "@/server/base/errors";
import { type Json, readJson, tryParseJson, writeJson } from "@/server/base/json/json";
import type { ModelPrice, PriceList } from "@/server/base/models/price-list";
import { RUN_STATUSES, STEP_STATUSES, type StepStatus } from "@/server/contract/enums";
import { freezePrices, frozenPrices, priceOf } from "@/server/credits/prices";
import { readAttempts } from "@/server/runs/attempts";
import type { Services } from "@/server/runs/services";

const READ_RUN = defineQuery(
  "read-run-of-receipt",
  z.object({
    status: z.enum(RUN_STATUSES),
    configuration: z.string(),
    creditsUsed: decimalText.nullable(),
    refunded: decimalText,
  }),
  `SELECT r.status, c.document AS configuration,
     CASE WHEN r.finished_at IS NOT NULL THEN r.credits_used END AS "creditsUsed",
     (SELECT coalesce(sum(e.amount), 0) FROM credit_entries e
      WHERE e.run_id = r.id AND e.organization_id = r.organization_id AND e.kind = 'refund') AS refunded
   FROM runs r JOIN configurations c ON c.organization_id = r.organization_id AND c.hash = r.configuration_hash
   WHERE r.id = $1 AND r.organization_id = $2`,
);

const callRow = z.object({
  id: z.string(),
  name: z.string(),
  status: z.enum(STEP_STATUSES),
  provider: z.string(),
  model: z.string(),
  inputTokens: z.number(),
  cachedInputTokens: z.number(),
  cacheWriteTokens: z.number(),
  outputTokens: z.number(),
  reasoningTokens: z.number(),
  estimated: z.boolean(),
  attempts: z.string(),
  credits: decimalText,
});

const READ_CALLS = defineQuery(
  "read-calls-of-receipt",
  callRow,
  `SELECT id, key AS name, status, provider, model, input_tokens AS "inputTokens",
     cached_input_tokens AS "cachedInputTokens", cache_write_tokens AS "cacheWriteTokens",
     output_tokens AS "outputTokens", reasoning_tokens AS "reasoningTokens", estimated, attempts, credits
   FROM model_calls WHERE run_id = $1 AND organization_id = $2 AND (status <> 'Running' OR credits > 0)`,
);

const READ_ACTIONS = defineQuery(
  "read-actions-of-receipt",
  z.object({
    id: z.string(),
    name: z.string(),
    status: z.enum(STEP_STATUSES),
    stepNumber: z.number(),
    childRunId: z.string().nullable(),
    credits: decimalText,
  }),
  `SELECT id, tool_name AS name, status, step_number AS "stepNumber", child_run_id AS "childRunId", credits
   FROM steps WHERE run_id = $1 AND organization_id = $2 AND (actions > 0 OR credits > 0)`,
);

type Line = {
  type: "model_call" | "action" | "waiver";
  name: string;
  status: StepStatus | null;
  credits: Decimal;
};

/**
 * Reads the charges of a run as of one moment, by model call and action in order. The lines sum to `creditsUsed`.
 * An open run has its usage so far. Child runs have receipts of their own. Throws `not_found`.
 */
export async function readReceipt({ pool }: Pick<Services, "pool">, orgId: OrgId, runId: string) {
  const of = [runId, orgId];
  const { run, calls, actions } = await readAtOnce(pool, async (client) => ({
    run: (await READ_RUN(client, of))[0],
    calls: await READ_CALLS(client, of),
    actions: await READ_ACTIONS(client, of),
  }));
  if (run === undefined) throw new AppError("not_found", "Run not found.");
  const rows = [
    ...calls.map(({ id, ...call }) => ({ id, line: callLine(call) })),
    ...actions.map(({ id, ...action }) => ({ id, line: { type: "action" as const, ...action } })),
  ];
  // Ids are in the order of creation.
  const lines: Line[] = rows.sort((a, b) => (a.id < b.id ? -1 : 1)).map(({ line }) => line);
  const spent = lines.reduce((sum, { credits }) => sum.add(credits), ZERO);
  const creditsUsed = run.creditsUsed ?? spent;
  const waived = creditsUsed.sub(spent);
  if (!waived.isZero()) lines.push({ type: "waiver", name: WAIVER, status: null, credits: waived });
  const { prices } = configuration.parse(readJson(run.configuration));
  return {
    runId,
    status: run.status,
    priceList: describePrices(prices, [...new Set(calls.map(({ model }) => model))]),
    lines: lines.map((line) => ({ ...line, credits: line.credits.toFixed(4) })),
    creditsUsed: creditsUsed.toFixed(4),
    creditsRefunded: run.refunded.toFixed(4),
  };
}

// A run that an error of the platform ended is not charged (runs/engine/end-run.ts).
const WAIVER = "The service failed: nothing is charged";

const configuration = z.object({ prices: frozenPrices });

function callLine({
  name,
  status,
  provider,
  model,
  credits,
  attempts,
  ...usage
}: Omit<z.output<typeof callRow>, "id">) {
  const reported = readAttempts(attempts).flatMap(({ usage: text }): Json[] => {
    const value = text === undefined ? undefined : tryParseJson(text);
    return value === undefined ? [] : [value];
  });
  return {
    type: "model_call" as const,
    name,
    status,
    provider,
    model,
    usage: { ...usage, reported },
    credits,
  };
}

function describePrices(prices: PriceList, models: readonly string[]) {
  const id = createHash("sha256")
    .update(writeJson(freezePrices(prices)))
    .digest("hex")
    .slice(0, 16);
  const used = models.map((model) => describePrice(model, priceOf(prices, model)));
  return { id, action: prices.action.toString(), models: used };
}

const describePrice = (model: string, { input, cachedInput, cacheWrite, output }: ModelPrice) => ({
  model,
  input: input.toString(),
  ...(cachedInput && { cachedInput: cachedInput.toString() }),
  ...(cacheWrite && { cacheWrite: cacheWrite.toString() }),
  output: output.toString(),
});
