import { z } from "zod";
import { Decimal, decimalText, toLedger } from "@/server/base/amount";
import type { ModelPrice, PriceList } from "@/server/base/models/price-list";

/** The least that a start holds. It is not a minimum charge. */
export const SMALLEST_HOLD = new Decimal("0.01");

/** The least limit of output tokens that every provider takes: OpenAI's responses reject less. */
export const LEAST_OUTPUT_TOKENS = 16;

/** The least output tokens that a hold pays for before a model call. */
export const MIN_OUTPUT_TOKENS = 1_000;

/** The output tokens of a model call if the balance allows them. */
export const WANTED_OUTPUT_TOKENS = 4_000;

/** The output tokens of the repeat of a call that was cut off. */
export const REPEAT_OUTPUT_TOKENS = 32_000;

const frozenPrice = z.object({
  input: decimalText,
  cachedInput: decimalText.optional(),
  cacheWrite: decimalText.optional(),
  output: decimalText,
});

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

// Prices are those of 1,000 tokens. Multiplying is cheaper than dividing, and as exact.
const PER_TOKEN = new Decimal("0.001");

type Tokens = { inputTokens: number; outputTokens: number };
type UsedTokens = Tokens & { cachedInputTokens?: number; cacheWriteTokens?: number };

/** Credits of one model call, to four places: each of its parts at its own price. */
export function creditsOfUsage(list: PriceList, model: string, usage: UsedTokens): Decimal {
  const { input, cachedInput = input, cacheWrite = input, output } = priceOf(list, model);
  const { inputTokens, cachedInputTokens: cached = 0, cacheWriteTokens: written = 0 } = usage;
  let credits = input.mul(inputTokens - cached - written).add(output.mul(usage.outputTokens));
  if (cached > 0) credits = credits.add(cachedInput.mul(cached));
  if (written > 0) credits = credits.add(cacheWrite.mul(written));
  return toLedger(credits.mul(PER_TOKEN));
}

/** The most that a model call of these tokens can cost, to four places. */
export function mostCreditsOf(
  list: PriceList,
  model: string,
  { inputTokens, outputTokens }: Tokens,
): Decimal {
  const price = priceOf(list, model);
  return toLedger(dearestInput(price).mul(inputTokens).add(price.output.mul(outputTokens)).mul(PER_TOKEN));
}

// The cached part of the input is unknown before the call, so the highest price counts.
const dearestInput = ({ input, cachedInput, cacheWrite }: ModelPrice) =>
  [cachedInput, cacheWrite].reduce<Decimal>((dearest, one) => (one?.gt(dearest) ? one : dearest), input);

export function creditsOfActions(list: PriceList, actions: number): Decimal {
  return list.action.mul(actions);
}

/**
 * The number of output tokens that `credits` pay for after an input of `inputTokens` in the dearest case; never
 * negative.
 */
export function outputTokensFor(
  list: PriceList,
  { model, credits, inputTokens }: { model: string; credits: Decimal; inputTokens: number },
): number {
  const price = priceOf(list, model);
  const { output } = price;
  const left = credits.mul(1000).sub(dearestInput(price).mul(inputTokens));
  if (left.lte(0)) return 0;
  if (output.isZero()) return Number.MAX_SAFE_INTEGER;
  return left.div(output).floor().toNumber();
}

/** The hold of an agent run's start: the counted prompt and 1,000 output tokens of the dearest model. */
export function holdForFirstCall(list: PriceList, models: readonly string[], promptTokens: number): Decimal {
  const tokens = { inputTokens: promptTokens, outputTokens: MIN_OUTPUT_TOKENS };
  return Decimal.max(SMALLEST_HOLD, ...models.map((model) => mostCreditsOf(list, model, tokens)));
}

/**
 * The hold of a run that starts immediately, beyond that of its start: the maximum output of a model call and room for the next
 * calls. With it, most runs never extend their hold.
 */
export function headroomForFirstCall(
  list: PriceList,
  models: readonly string[],
  { promptTokens, hold }: { promptTokens: number; hold: Decimal },
): Decimal {
  const tokens = { inputTokens: promptTokens, outputTokens: WANTED_OUTPUT_TOKENS };
  const dearest = Decimal.max(0, ...models.map((model) => mostCreditsOf(list, model, tokens)));
  const wanted = dearest.mul("1.25").add(list.action.mul(4));
  return Decimal.max(0, toLedger(wanted.sub(hold)));
}
