import { z } from "zod";
import { isJsonObject } from "../json/json";
import { MODEL_APIS, type ModelApi } from "./model-api";

export type NamedProvider = {
  name: string;
  /** Unset: `apiOf` decides. */
  api?: ModelApi | undefined;
  apiKey?: string | undefined;
  baseUrl?: string | undefined;
  /** Unlisted models go to the default provider. */
  models: readonly string[];
  limits?: ReadonlyMap<string, ModelLimits> | undefined;
};

export type ModelLimits = { contextWindow?: number | undefined; maxOutputTokens?: number | undefined };

/** Names of model providers; `demo` and `openai` are the service's own. */
export const providerName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "must consist of lowercase letters, digits and hyphens")
  .refine((name) => name !== "demo" && name !== "openai", "is taken: demo is built in, openai is OPENAI_*");

export const modelApi = z.enum(MODEL_APIS);

export const providerUrl = z.url({ protocol: /^https?$/, error: "must be an http or https address" });

type Repeat = { path: [number, "name"] | [number, "models", number]; message: string };

/** Names that two providers have, and models that two of them list. Each may be anything. */
export function findRepeats(providers: readonly unknown[]): Repeat[] {
  const repeats: Repeat[] = [];
  const names = new Set<unknown>();
  const models = new Map<unknown, unknown>([["demo", "the demo model"]]);
  for (const [index, provider] of providers.entries()) {
    if (!isJsonObject(provider)) continue;
    const { name } = provider;
    if (names.has(name)) repeats.push({ path: [index, "name"], message: `"${name}" is used twice` });
    names.add(name);
    for (const [at, model] of (Array.isArray(provider.models) ? provider.models : []).entries()) {
      const other = models.get(model);
      if (other !== undefined)
        repeats.push({ path: [index, "models", at], message: `"${model}" is already listed by ${other}` });
      models.set(model, name);
    }
  }
  return repeats;
}
