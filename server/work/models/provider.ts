import { apiOf, type ModelApi } from "@/server/base/models/model-api";
import { anthropic } from "./anthropic/anthropic";
import { type CallOptions, ModelCall } from "./calls/model-call";
import type { ModelInterface } from "./calls/model-interface";
import { ModelServer } from "./calls/model-server";
import { listCatalogModels } from "./catalog/find-model-facts";
import { chat } from "./chat/chat";
import { readProviderError } from "./errors/provider-error";
import type { Models, Offer } from "./port";
import { responses } from "./responses/responses";

export type Provider = Pick<Models, "call" | "factsOf"> & {
  name: string;
  listModels(): Promise<Offer>;
};

const INTERFACES: Record<ModelApi, ModelInterface> = { chat, responses, anthropic };

/** A provider at an address, over the interface `api`, or else the one that is usual there. */
export function createProvider({ api, ...options }: CallOptions & { api?: ModelApi | undefined }): Provider {
  const server = new ModelServer(INTERFACES[apiOf({ api, baseUrl: options.baseUrl })], options);
  return {
    name: options.name,
    call: (request) => new ModelCall(server, request, options).run(),
    factsOf: (model) => server.factsOf(model),
    async listModels() {
      try {
        return { models: await server.listModels(), problem: null };
      } catch (error) {
        const { message } = readProviderError(error, { apiKey: undefined, ...options }, options.clock.now());
        const problem = message.charAt(0).toUpperCase() + message.slice(1);
        const known = await listCatalogModels(server.baseUrl);
        return { models: known.map((model) => ({ name: model, contextWindow: undefined })), problem };
      }
    },
  };
}
