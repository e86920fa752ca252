import type { Clock } from "@/server/base/clock";
import type { NamedProvider } from "@/server/base/model-providers";
import { sleepOrThrow } from "@/server/base/sleep";
import { createTrustedEgress } from "@/server/guard/egress/trusted-fetch";
import { callDemoModel, DEMO } from "@/server/work/models/demo/demo";
import { createOpenAiCompatible, type Provider } from "@/server/work/models/openai/openai-compatible";
import type { Models } from "@/server/work/models/port";
import { boundRequestTokens } from "@/server/work/models/tokens/token-bound";
import { countRequestTokens } from "@/server/work/models/tokens/tokens";

type ModelsOptions = {
  /** The default provider, from OPENAI_API_KEY and OPENAI_BASE_URL. */
  openai?: { apiKey: string | undefined; baseUrl: string | undefined } | undefined;
  /** More providers; without `openai` the first one is the default. */
  providers?: readonly NamedProvider[];
  clock: Clock;
};

/**
 * All models behind one interface. A model goes to the provider that lists it, else to the default one; the demo model
 * answers if none is configured.
 */
export function createModels({ openai, providers = [], clock }: ModelsOptions): Models {
  const named: NamedProvider[] = [
    ...(openai ? [{ name: "openai", models: [], ...openai }] : []),
    ...providers,
  ];
  const { fetch } = createTrustedEgress();
  const common = { fetch, clock, random: Math.random, sleep: sleepOrThrow };
  const demo: Provider = { name: DEMO, call: (request) => callDemoModel(request, clock) };
  const byModel = new Map<string, Provider>([[DEMO, demo]]);
  let fallback: Provider | undefined;
  for (const { name, apiKey, baseUrl, models } of named) {
    const provider = createOpenAiCompatible({ name, apiKey, baseUrl, ...common });
    fallback ??= provider;
    for (const model of models) byModel.set(model, provider);
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
