import { formatCount, formatCredits } from "@/app/_ui/figures/format";
import type { ModelDescription } from "@/server/catalog/organization/describe-model";

/** The line of a form about a model: its limits and prices. */
export function formatModel({ contextWindow, maxOutputTokens, ...prices }: ModelDescription): string {
  const context = contextWindow === null ? [] : [`${formatCount(contextWindow)} tokens of context.`];
  const output = maxOutputTokens === null ? [] : [`At most ${formatCount(maxOutputTokens)} of output.`];
  return [...context, ...output, `Credits per 1,000: ${pricesOf(prices)}.`].join(" ");
}

type Prices = Pick<ModelDescription, "input" | "cachedInput" | "cacheWrite" | "output">;

function pricesOf({ input, cachedInput, cacheWrite, output }: Prices): string {
  const parts = [
    [input, "in"],
    [cachedInput, "cached"],
    [cacheWrite, "written to the cache"],
    [output, "out"],
  ] as const;
  return parts.flatMap(([price, of]) => (price === null ? [] : `${formatCredits(price)} ${of}`)).join(", ");
}

/** A provider's list price for reference; null if it is not known. */
export function formatListPrice({ dollars }: Pick<ModelDescription, "dollars">): string | null {
  if (dollars === null) return null;
  const cached = dollars.cachedInput === undefined ? "" : `, $${dollars.cachedInput} cached`;
  return `List price per million tokens: $${dollars.input} in${cached}, $${dollars.output} out.`;
}
