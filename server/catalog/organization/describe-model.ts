import type { Services } from "@/server/catalog/services";
import { priceOf } from "@/server/credits/prices";
import { findModelFacts } from "@/server/work/models/catalog/find-model-facts";
import type { OwnProvider } from "@/server/work/models/own-provider";

export type ModelDescription = Awaited<ReturnType<typeof describeModel>>;

/**
 * A model for pages: its price in credits per 1,000 tokens (`cachedInput` and `cacheWrite` null: as input) and its
 * limits in tokens. `dollars` is the list price per million tokens. `own` is the organization's provider that
 * serves it.
 */
export async function describeModel(
  { prices, models }: Pick<Services, "prices" | "models">,
  { name, contextWindow: stated }: { name: string; contextWindow?: number | undefined },
  own?: Pick<OwnProvider, "baseUrl">,
) {
  const { input, cachedInput, cacheWrite, output } = priceOf(prices, name);
  const facts = await (own === undefined
    ? models.factsOf(name)
    : findModelFacts({ baseUrl: own.baseUrl, model: name }));
  return {
    name,
    input: input.toFixed(),
    cachedInput: cachedInput?.toFixed() ?? null,
    cacheWrite: cacheWrite?.toFixed() ?? null,
    output: output.toFixed(),
    contextWindow: stated ?? facts.contextWindow ?? null,
    maxOutputTokens: facts.maxOutputTokens ?? null,
    dollars: facts.dollars ?? null,
  };
}
