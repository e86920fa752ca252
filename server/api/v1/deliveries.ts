import { z } from "zod";
import { endpoint, idParameter } from "@/server/api/endpoint";
import { listAllDeliveries, requireOwnDelivery } from "@/server/catalog/webhooks/list-deliveries";
import { redeliver } from "@/server/catalog/webhooks/redeliver";
import { DELIVERY_OUTCOMES } from "@/server/contract/enums";
import { runStarted } from "@/server/contract/shapes";
import { rejectStart } from "@/server/runs/start";
import { choice, id } from "./filters";
import { idCursor, listEndpoint } from "./list";
import { exampleStart, REPEATABLE, startConditions, startReply } from "./start";

const delivery = z
  .object({
    id: z.uuid(),
    triggerId: z.uuid(),
    receivedAt: z.iso.datetime({ precision: 3 }),
    outcome: z
      .enum(DELIVERY_OUTCOMES)
      .meta({ description: "accepted started a run; repeated named an earlier one" }),
    status: z.int().meta({ description: "The HTTP status of the answer" }),
    code: z.string().nullable().meta({ description: "The error code of a rejected call" }),
    reason: z.string().nullable(),
    bodyBytes: z.int().min(0),
    senderId: z.string().nullable().meta({ description: "The sender's id of the event" }),
    redeliveryOf: z.uuid().nullable().meta({ description: "The delivery that it repeats" }),
    runId: z.uuid().nullable(),
  })
  .meta({ id: "Delivery", description: "A call that a trigger received" });

export const deliveries = {
  list: listEndpoint({
    path: "/v1/deliveries",
    operationId: "listDeliveries",
    tag: "Triggers",
    summary: "List deliveries",
    description:
      "The calls that triggers received, newest first, without their bodies. A key that is limited to agents and tools gets " +
      "only those of their triggers.",
    scope: "deliveries:read",
    id: "DeliveryList",
    item: delivery,
    cursor: idCursor,
    filters: {
      trigger: id("trigger", "Only deliveries of this trigger"),
      outcome: choice("outcome", {
        among: DELIVERY_OUTCOMES,
        description: "Only deliveries with this outcome",
      }),
    },
    example: {
      item: {
        id: "019aa5d1-c0de-7a11-8f3b-5d7e9a1c2b40",
        triggerId: "019aa5c0-2d17-7e90-a4c6-1b3d5f7a9c21",
        receivedAt: "2026-11-21T01:22:06.000Z",
        outcome: "accepted",
        status: 200,
        code: null,
        reason: null,
        bodyBytes: 412,
        senderId: "evt_42",
        redeliveryOf: null,
        runId: "019aa5d1-a2c4-7d11-9b6e-3f1c5e7a9b02",
      },
      filters: { outcome: "accepted" },
    },
    list: (services, actor, { filters: { trigger, outcome }, page }) =>
      listAllDeliveries(services, actor, { triggerId: trigger, outcome, ...page }),
  }),

  redeliver: endpoint({
    tag: "Triggers",
    method: "POST",
    path: "/v1/deliveries/{deliveryId}/redeliver",
    operationId: "redeliver",
    summary: "Redeliver",
    description:
      "Starts a run of the trigger's current agent or tool with the stored body, without its signature, filter and rate " +
      "limit.",
    successDescription: "The new run is stored and will execute",
    scope: "runs:start",
    alsoNeeds: ["deliveries:read"],
    answers: "start",
    requestHeaders: REPEATABLE,
    example: { response: exampleStart },
    input: z.object({ deliveryId: idParameter("deliveryId", "delivery") }),
    answer: runStarted,
    async run({ services, actor, input: { deliveryId }, call: { options, repetition } }) {
      const found = await requireOwnDelivery(services, actor, deliveryId).catch((error: unknown) => ({
        error,
      }));
      const kind = "error" in found ? "agent" : found.kind;
      const conditions = startConditions(actor, kind, repetition);
      const result = await ("error" in found
        ? rejectStart(services, actor, { error: found.error, conditions })
        : redeliver(services, actor, { deliveryId, options, conditions }));
      return startReply(kind, result);
    },
  }),
};
