import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import { Decimal } from "@/server/base/amount";
import { StartError } from "@/server/base/errors";
import type { ModelLimits, NamedProvider } from "@/server/base/models/model-providers";
import { findRepeats, modelApi, providerName, providerUrl } from "@/server/base/models/model-providers";
import { DEFAULT_PRICES, type PriceList } from "@/server/base/models/price-list";
import { decodeUtf8 } from "@/server/base/utf8";

/**
 * Reads the files of PRICE_LIST and MODEL_PROVIDERS, YAML or JSON (docs/configuration-files.md). Each reader throws
 * StartError, which names the file and every wrong value.
 */

const credits = (places: number) =>
  z
    .union([z.number(), z.string()], { error: "must be a number" })
    .transform(String)
    .refine((text) => new RegExp(`^\\d{1,9}(\\.\\d{1,${places}})?$`).test(text), {
      error: `must be a number from 0 with at most ${places} decimal places`,
    })
    .transform((text) => new Decimal(text));

const modelPrice = z.strictObject({
  input: credits(6),
  cachedInput: credits(6).optional(),
  cacheWrite: credits(6).optional(),
  output: credits(6),
});

const priceFile = z.strictObject({
  default: modelPrice.optional(),
  action: credits(4).optional(),
  models: z.record(z.string().min(1), modelPrice).optional(),
});

/** Reads a price list. What it omits has its default price. */
export function readPriceList(path: string): PriceList {
  const given = readFileOf(path, priceFile);
  return {
    defaultModel: given.default ?? DEFAULT_PRICES.defaultModel,
    action: given.action ?? DEFAULT_PRICES.action,
    models: { ...DEFAULT_PRICES.models, ...given.models },
  };
}

const tokenLimit = z
  .int("must be a whole number")
  .min(1, "must be at least 1")
  .max(1_000_000_000, "must be at most 1,000,000,000")
  .optional();
const listedModel = z.preprocess(
  (given) => (typeof given === "string" ? { name: given } : given),
  z.strictObject({ name: z.string().min(1), contextWindow: tokenLimit, maxOutputTokens: tokenLimit }),
);

const providerFile = z.array(
  z
    .strictObject({
      name: providerName,
      api: modelApi.optional(),
      baseUrl: providerUrl,
      apiKey: z.string().min(1).optional(),
      // An environment variable, so that the file holds no secret.
      apiKeyFrom: z.string().min(1).optional(),
      models: z.array(listedModel).default([]),
    })
    .refine(({ apiKey, apiKeyFrom }) => apiKey === undefined || apiKeyFrom === undefined, {
      error: "has both apiKey and apiKeyFrom",
    }),
);

/** Reads named model providers. `source` has the variables that `apiKeyFrom` names. */
export function readModelProviders(
  path: string,
  source: Record<string, string | undefined>,
): NamedProvider[] {
  const providers = readFileOf(path, providerFile).map(splitLimits);
  const issues = findRepeats(providers).map(
    ({ path: [index, field], message }) => `${index}.${field} ${message}`,
  );
  for (const [index, { apiKeyFrom }] of providers.entries()) {
    if (apiKeyFrom !== undefined && !source[apiKeyFrom])
      issues.push(`${index}.apiKeyFrom names ${apiKeyFrom}, which is not set`);
  }
  if (issues.length > 0) throw invalidFile(path, issues);
  return providers.map(({ apiKeyFrom, apiKey, ...provider }) => ({
    ...provider,
    apiKey: apiKeyFrom === undefined ? apiKey : source[apiKeyFrom],
  }));
}

function splitLimits<Provider extends { models: readonly z.output<typeof listedModel>[] }>(
  provider: Provider,
) {
  const limits = new Map(provider.models.map(({ name, ...stated }): [string, ModelLimits] => [name, stated]));
  return { ...provider, models: provider.models.map(({ name }) => name), limits };
}

function readFileOf<Schema extends z.ZodType>(path: string, schema: Schema): z.output<Schema> {
  let content: unknown;
  try {
    content = parse(decodeUtf8(readFileSync(path)));
  } catch (cause) {
    const reason = cause instanceof Error ? (cause.message.split("\n")[0] ?? "") : String(cause);
    throw new StartError(`${path} cannot be read: ${reason}`, { cause });
  }
  const parsed = schema.safeParse(content);
  if (parsed.success) return parsed.data;
  throw invalidFile(
    path,
    parsed.error.issues.map((issue) => `${issue.path.join(".") || "the file"} ${issue.message}`),
  );
}

function invalidFile(path: string, issues: string[]): StartError {
  return new StartError(`${path} is wrong: ${issues.join("; ")}`);
}
