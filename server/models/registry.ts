import type { Clock } from "@/server/clock";
import { createTrustedEgress } from "@/server/egress/trusted-fetch";
import type { EgressFetch } from "@/server/functions/define";
import { callDemoModel, DEMO_PROVIDER } from "@/server/models/demo/demo";
import { createOpenAiCompatible, type Provider } from "@/server/models/openai/openai-compatible";
import type { Models } from "@/server/models/port";
import { boundRequestTokens } from "@/server/models/tokens/token-bound";
import { countRequestTokens } from "@/server/models/tokens/tokens";
import { sleepOrThrow } from "@/server/sleep";

export type NamedProvider = {
  name: string;
  apiKey?: string | undefined;
  baseUrl?: string | undefined;
  /** The models it serves; unlisted models go to the default provider. */
  models: readonly string[];
};

type ModelsOptions = {
  /** The default provider, from OPENAI_API_KEY and OPENAI_BASE_URL. */
  openai?: { apiKey: string | undefined; baseUrl: string | undefined } | undefined;
  /** More providers; without `openai` the first one is the default. */
  providers?: readonly NamedProvider[];
  clock: Clock;
  /** The HTTP client for the providers, whose URLs are trusted configuration. */
  fetch?: EgressFetch;
  random?: () => number;
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** The model name of the built-in simulation. */
const DEMO_MODEL = "demo";

/**
 * All models behind one interface. A model goes to the provider that lists it, else to the default one; the demo model
 * answers if none is configured.
 */
export function createModels(options: ModelsOptions): Models {
  const { openai, clock, random = Math.random, sleep = sleepOrThrow } = options;
  const named: NamedProvider[] = [
    ...(openai ? [{ name: "openai", models: [], ...openai }] : []),
    ...(options.providers ?? []),
  ];
  const fetch = options.fetch ?? createTrustedEgress().fetch;
  const demo: Provider = { name: DEMO_PROVIDER, call: (request) => callDemoModel(request, clock) };
  const byModel = new Map<string, Provider>([[DEMO_MODEL, demo]]);
  let fallback: Provider | undefined;
  for (const { name, apiKey, baseUrl, models } of named) {
    const provider = createOpenAiCompatible({ name, apiKey, baseUrl, fetch, clock, random, sleep });
    fallback ??= provider;
    for (const model of models) if (!byModel.has(model)) byModel.set(model, provider);
  }
  const providerFor = (model: string): Provider => byModel.get(model) ?? fallback ?? demo;
  return {
    call: (request) => providerFor(request.model).call(request),
    providerOf: (model) => providerFor(model).name,
    listed: [...byModel.keys()],
    boundTokens: boundRequestTokens,
    countTokens: countRequestTokens,
  };
}
