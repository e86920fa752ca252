import { apiOf, type ModelApi } from "@/server/base/model-api";
import { anthropic } from "./anthropic/anthropic";
import { type CallOptions, ModelCall } from "./calls/model-call";
import type { ModelInterface } from "./calls/model-interface";
import { ModelServer } from "./calls/model-server";
import { chat } from "./chat/chat";
import type { Models } from "./port";
import { responses } from "./responses/responses";

export type Provider = Pick<Models, "call" | "factsOf"> & { name: string };

const INTERFACES: Record<ModelApi, ModelInterface> = { chat, responses, anthropic };

/** A provider at an address, over the interface `api`, or else the one that is usual there. */
export function createProvider({ api, ...options }: CallOptions & { api?: ModelApi | undefined }): Provider {
  const server = new ModelServer(INTERFACES[apiOf({ api, baseUrl: options.baseUrl })], options);
  return {
    name: options.name,
    call: (request) => new ModelCall(server, request, options).run(),
    factsOf: (model) => server.factsOf(model),
  };
}
