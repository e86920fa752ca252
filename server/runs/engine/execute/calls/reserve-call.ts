import { Decimal, ZERO } from "@/server/base/amount";
import {
  creditsOfUsage,
  LEAST_OUTPUT_TOKENS,
  MIN_OUTPUT_TOKENS,
  mostCreditsOf,
  outputTokensFor,
  REPEAT_OUTPUT_TOKENS,
  WANTED_OUTPUT_TOKENS,
} from "@/server/credits/prices";
import { LimitReached } from "@/server/runs/engine/interruptions";
import { exactly } from "@/server/runs/engine/slots/budget";
import type { CutOff, Prompt } from "@/server/work/models/port";
import type { Execution } from "../execution";

type Priced = { model: string; provider: string };

/** `reserved` grows if the call is repeated with a larger limit. */
type CallReservation = { reserved: Decimal; maxOutputTokens: number };

export const isFree = ({ provider }: Priced): boolean => provider === "demo";

/**
 * Reserves the price of a call at the dearest model that may answer it. If cap or balance is too low for a quick
 * upper bound, the prompt is counted exactly and the output is limited.
 */
export async function reserveForCall(
  { services, run, budget }: Execution,
  request: Prompt & { maxOutputTokens?: number | undefined },
  candidates: readonly Priced[],
): Promise<CallReservation> {
  const limit = request.maxOutputTokens ?? WANTED_OUTPUT_TOKENS;
  const models = candidates.filter((each) => !isFree(each)).map(({ model }) => model);
  if (models.length === 0) return { reserved: ZERO, maxOutputTokens: limit };
  const priceFor = (inputTokens: number, outputTokens: number) =>
    Decimal.max(...models.map((model) => mostCreditsOf(run.prices, model, { inputTokens, outputTokens })));

  // A provider that takes no lower limit may use it.
  const most = Math.max(limit, LEAST_OUTPUT_TOKENS);
  const ample = priceFor(services.models.boundTokens(request), most);
  const reserved = await budget.reserve(exactly(ample)).catch((error: unknown) => {
    if (error instanceof LimitReached) return null;
    throw error;
  });
  if (reserved !== null) return { reserved, maxOutputTokens: limit };

  const inputTokens = await services.models.countTokens(request);
  const scarce = await budget.reserve({
    least: priceFor(inputTokens, LEAST_OUTPUT_TOKENS),
    minimum: priceFor(inputTokens, Math.min(most, MIN_OUTPUT_TOKENS)),
    wanted: priceFor(inputTokens, most),
  });
  const affordable = models.map((model) =>
    outputTokensFor(run.prices, { model, credits: scarce, inputTokens }),
  );
  return {
    reserved: scarce,
    maxOutputTokens: Math.min(limit, Math.max(LEAST_OUTPUT_TOKENS, Math.min(...affordable))),
  };
}

// Tried in turn until cap and balance allow one.
const REPEAT_LIMITS = [REPEAT_OUTPUT_TOKENS, REPEAT_OUTPUT_TOKENS / 2, REPEAT_OUTPUT_TOKENS / 4];

/**
 * Reserves the repeat of a call that was cut off, and returns its limit. `lost` are the credits of models before
 * this one.
 */
export async function reserveForRepeat(
  { run, budget }: Execution,
  call: { model: string; reservation: CallReservation; lost: Decimal; cutOff: CutOff },
): Promise<number> {
  const { model, reservation, lost, cutOff } = call;
  const limits = new Set(REPEAT_LIMITS.map((limit) => Math.min(limit, cutOff.maximum)));
  const { maxOutputTokens } = reservation;
  const { inputTokens } = cutOff.last;
  const used = lost.add(creditsOfUsage(run.prices, model, cutOff.total));
  const missingFor = (outputTokens: number) =>
    Decimal.max(
      ZERO,
      used.add(mostCreditsOf(run.prices, model, { inputTokens, outputTokens })).sub(reservation.reserved),
    );
  for (const limit of [...limits].filter((each) => each > maxOutputTokens)) {
    const missing = missingFor(limit);
    try {
      const least = missingFor(maxOutputTokens + 1);
      const added = await budget.reserve({ least, minimum: missing, wanted: missing });
      reservation.reserved = reservation.reserved.add(added);
    } catch (error) {
      if (!(error instanceof LimitReached)) throw error;
      if (error.code === "insufficient_credits") continue;
      return maxOutputTokens;
    }
    const credits = reservation.reserved.sub(used);
    return Math.min(limit, outputTokensFor(run.prices, { model, credits, inputTokens }));
  }
  return maxOutputTokens;
}
