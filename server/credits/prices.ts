import { z } from "zod";
import { Decimal, decimalText, toLedger } from "@/server/base/amount";
import type { ModelPrice, PriceList } from "@/server/base/price-list";

/** The least that a start holds. It is not a minimum charge. */
export const SMALLEST_HOLD = new Decimal("0.01");

/** The least output tokens that a hold pays for before a model call. */
export const MIN_OUTPUT_TOKENS = 1_000;

/** The output tokens of a model call if the balance allows them. */
export const WANTED_OUTPUT_TOKENS = 4_000;

/** The output tokens of the repeat of a call that was cut off. */
export const REPEAT_OUTPUT_TOKENS = 32_000;

const frozenPrice = z.object({ input: decimalText, output: decimalText });

/** The fields of a price list that a run's configuration stores, in a fixed order: equal lists give equal JSON. */
export function freezePrices({ defaultModel, models, action }: PriceList): PriceList {
  return { defaultModel, models, action };
}

/** The price list in a run's configuration. A run is charged at the prices in force when it started. */
export const frozenPrices = z.object({
  models: z.record(z.string(), frozenPrice),
  defaultModel: frozenPrice,
  action: decimalText,
}) satisfies z.ZodType<PriceList>;

export function priceOf(list: PriceList, model: string): ModelPrice {
  return Object.hasOwn(list.models, model) ? (list.models[model] ?? list.defaultModel) : list.defaultModel;
}

/** Credits of one model call: (in × rate_in + out × rate_out) / 1000, to four places. */
export function creditsOfTokens(
  list: PriceList,
  model: string,
  tokens: { inputTokens: number; outputTokens: number },
): Decimal {
  const { input, output } = priceOf(list, model);
  return toLedger(input.mul(tokens.inputTokens).add(output.mul(tokens.outputTokens)).div(1000));
}

export function creditsOfActions(list: PriceList, actions: number): Decimal {
  return list.action.mul(actions);
}

/** How many output tokens `credits` pay for after an input of `inputTokens`; never negative. */
export function outputTokensFor(
  list: PriceList,
  { model, credits, inputTokens }: { model: string; credits: Decimal; inputTokens: number },
): number {
  const { input, output } = priceOf(list, model);
  const left = credits.mul(1000).sub(input.mul(inputTokens));
  if (left.lte(0)) return 0;
  if (output.isZero()) return Number.MAX_SAFE_INTEGER;
  return left.div(output).floor().toNumber();
}

/** The hold of an agent run's start: the counted prompt and 1,000 output tokens. */
export function holdForFirstCall(list: PriceList, model: string, promptTokens: number): Decimal {
  return Decimal.max(
    SMALLEST_HOLD,
    creditsOfTokens(list, model, { inputTokens: promptTokens, outputTokens: MIN_OUTPUT_TOKENS }),
  );
}

/**
 * The additional hold of a run that starts immediately, if the balance allows it. It covers the maximum output of a
 * model call and some room for the next calls. With it, most runs never extend their hold.
 */
export function headroomForFirstCall(list: PriceList, model: string, promptTokens: number): Decimal {
  const tokens = { inputTokens: promptTokens, outputTokens: WANTED_OUTPUT_TOKENS };
  const wanted = creditsOfTokens(list, model, tokens).mul("1.25").add(list.action.mul(4));
  const beyond = wanted.sub(holdForFirstCall(list, model, promptTokens));
  return Decimal.max(0, toLedger(beyond));
}
