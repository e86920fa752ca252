import type { Clock } from "@/server/base/clock";
import type { NamedProvider } from "@/server/base/models/model-providers";
import { sleepOrThrow } from "@/server/base/sleep";
import { createTrustedEgress } from "@/server/guard/egress/trusted-fetch";
import { LONGEST_SILENCE_MS } from "@/server/work/models/calls/model-server";
import { callDemoModel, DEMO } from "@/server/work/models/demo/demo";
import { OfferCache } from "@/server/work/models/offer-cache";
import { Paces } from "@/server/work/models/pace/paces";
import type { Models } from "@/server/work/models/port";
import { createProvider, type Provider } from "@/server/work/models/provider";
import { boundRequestTokens } from "@/server/work/models/tokens/token-bound";
import { countRequestTokens } from "@/server/work/models/tokens/tokens";

type ModelsOptions = {
  /** From OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_API. */
  openai?: Pick<NamedProvider, "api" | "apiKey" | "baseUrl"> | undefined;
  /** Without `openai`, the first one is the default. */
  providers?: readonly NamedProvider[];
  clock: Clock;
  sleep?: typeof sleepOrThrow;
};

/**
 * All models behind one interface. A model goes to the provider that lists it, else to the default one. If none is
 * configured, the demo model answers.
 */
export function createModels({ openai, providers = [], clock, sleep = sleepOrThrow }: ModelsOptions): Models {
  const named: NamedProvider[] = [
    ...(openai ? [{ name: "openai", models: [], ...openai }] : []),
    ...providers,
  ];
  // Only applies if the attempt does not end at its own, shorter limit.
  const { fetch } = createTrustedEgress({ silenceMs: LONGEST_SILENCE_MS + 10_000 });
  const common = { fetch, clock, random: Math.random, sleep, paces: new Paces({ clock, sleep }) };
  const demo: Provider = {
    name: DEMO,
    call: (request) => callDemoModel(request, clock),
    factsOf: async () => ({}),
    listModels: async () => ({ models: [{ name: DEMO, contextWindow: undefined }], problem: null }),
  };
  const byModel = new Map<string, Provider>([[DEMO, demo]]);
  let fallback: Provider | undefined;
  for (const { models, ...options } of named) {
    const provider = createProvider({ ...options, ...common });
    fallback ??= provider;
    for (const model of models) byModel.set(model, provider);
  }
  const offers = new OfferCache();
  const providerFor = (model: string): Provider => byModel.get(model) ?? fallback ?? demo;
  return {
    call: (request) => providerFor(request.model).call(request),
    providerOf: (model) => providerFor(model).name,
    factsOf: (model) => providerFor(model).factsOf(model),
    listed: [...byModel.keys()],
    listOffered: () => offers.get("", clock, () => (fallback ?? demo).listModels()),
    boundTokens: boundRequestTokens,
    countTokens: countRequestTokens,
  };
}
