import { Decimal } from "../amount";

/** Credits per 1,000 tokens. Input that was read from the provider's cache, or written to it, costs `input` if unset. */
export type ModelPrice = {
  input: Decimal;
  cachedInput?: Decimal | undefined;
  cacheWrite?: Decimal | undefined;
  output: Decimal;
};

export type PriceList = { models: Record<string, ModelPrice>; defaultModel: ModelPrice; action: Decimal };

const price = (input: string, output: string): ModelPrice => ({
  input: new Decimal(input),
  output: new Decimal(output),
});

/**
 * Default prices in credits; the operator's list overrides them (docs/configuration-files.md). A model that is not
 * listed has the default price.
 */
export const DEFAULT_PRICES: PriceList = {
  defaultModel: price("0.1", "0.4"),
  models: {},
  action: new Decimal("0.01"),
};
