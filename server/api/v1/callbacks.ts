import { z } from "zod";
import { endpoint, idParameter } from "@/server/api/endpoint";
import { listCallbackLines, readCallback } from "@/server/catalog/callbacks/read-callbacks";
import { callbackChanges } from "@/server/catalog/changes-by-key";
import { DEFINITION_STATUSES } from "@/server/contract/enums";
import { changeEndpoints, createEndpoint, definition } from "./change-definitions";
import { exampleTimes, LISTED, named, READ, times } from "./definitions";
import { listEndpoint } from "./list";

const line = z
  .object({
    ...named,
    url: z.string(),
    events: z.array(z.string()),
    status: z.enum(DEFINITION_STATUSES),
    failingSince: z.iso
      .datetime({ precision: 3 })
      .nullable()
      .meta({ description: "The first failed attempt since the last one that succeeded" }),
    ...times,
  })
  .meta({ id: "CallbackListItem" });

const exampleLine = {
  id: "019aa5c0-4f39-70b2-86e8-3d5f7b9c1e43",
  slug: "orders",
  name: "orders",
  url: "https://example.com/runs",
  events: ["run.completed", "run.failed"],
  status: "active" as const,
  failingSince: null,
  ...exampleTimes,
};

const callback = {
  tag: "Callbacks",
  name: "callback",
  path: "/v1/callbacks",
  view: line.extend({ definition }).meta({ id: "Callback" }),
  example: {
    ...exampleLine,
    definition: { slug: "orders", url: exampleLine.url, events: exampleLine.events, agents: ["helper"] },
  },
  changes: callbackChanges,
  state: ["failingSince"],
  // Outputs of runs leave by callbacks.
  alsoNeeds: ["runs:read"],
  freesSlug: true,
} as const;

const ONLY_TARGETS = "A key that is limited to agents and tools gets only those that name none but its own.";

export const callbacks = {
  list: listEndpoint({
    ...LISTED,
    tag: "Callbacks",
    path: "/v1/callbacks",
    operationId: "listCallbacks",
    summary: "List callbacks",
    description: `The organization's callbacks by slug. ${ONLY_TARGETS}`,
    id: "CallbackList",
    item: line,
    filters: {},
    example: { item: exampleLine },
    list: (services, actor, { page }) => listCallbackLines(services, actor, page),
  }),
  get: endpoint({
    ...READ,
    tag: "Callbacks",
    path: "/v1/callbacks/{callbackId}",
    operationId: "getCallback",
    summary: "Read a callback",
    description: "The definition of a callback, as definition files have it, without its secrets.",
    input: z.object({ callbackId: idParameter("callbackId", "callback") }),
    answer: callback.view,
    state: callback.state,
    example: { response: callback.example },
    run: ({ services, actor, input: { callbackId } }) => readCallback(services, actor, callbackId),
  }),
  create: createEndpoint({
    kind: callback,
    created: {
      answer: callback.view
        .extend({ secret: z.string().meta({ description: "It signs what is sent; shown this once" }) })
        .meta({ id: "CreatedCallback" }),
      example: { ...callback.example, secret: "whsec_…" },
      description: " The answer has the secret that signs what is sent, this once.",
    },
    async create(services, key, given) {
      const { view, secret } = await callbackChanges.create(services, key, given);
      return { ...view, secret: secret ?? "" };
    },
  }),
  ...changeEndpoints(callback),
};
