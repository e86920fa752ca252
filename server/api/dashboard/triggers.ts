import { z } from "zod";
import { sendTestCall } from "@/server/api/test-call";
import { memberProcedure, router } from "@/server/api/trpc";
import { removeDefinition } from "@/server/catalog/archive";
import {
  createTrigger,
  rotateTriggerSecret,
  rotateTriggerToken,
  setTriggerStatus,
} from "@/server/catalog/change-trigger";
import { slug, triggerDefinition } from "@/server/catalog/definitions";
import { saveTrigger } from "@/server/catalog/save-trigger";
import { DELIVERY_OUTCOMES } from "@/server/contract/enums";
import {
  inspectDelivery,
  listDeliveries,
  previewMessage,
  previewTemplate,
} from "@/server/webhooks/inspect-deliveries";
import { inspectTrigger } from "@/server/webhooks/inspect-trigger";
import { redeliver } from "@/server/webhooks/redeliver";
import { triggerUrl } from "@/server/webhooks/token";
import { call, checkedInput, mutation } from "./procedures";

/** Bodies that are typed into the dashboard. */
const MAX_SAMPLE_CHARACTERS = 100_000;

const viewer = memberProcedure("viewer");
const member = memberProcedure("member");

export const triggersRouter = router({
  inspect: viewer.input(z.object({ triggerId: z.uuid() })).query(call(inspectTrigger)),

  deliveries: viewer
    .input(
      z.object({
        triggerId: z.uuid(),
        outcome: z.enum(DELIVERY_OUTCOMES).optional(),
        /** The page begins after this id, towards older deliveries. */
        cursor: z.uuid().nullish(),
        limit: z.int().min(1).max(200).default(50),
      }),
    )
    .query(call(listDeliveries)),

  delivery: viewer
    .input(z.object({ deliveryId: z.uuid(), complete: z.boolean().optional() }))
    .query(call(inspectDelivery)),

  /** Changes nothing; it is a mutation because templates are too long for a URL. */
  previewMessage: member
    .input(z.object({ deliveryId: z.uuid(), template: z.string().min(1).max(100_000) }))
    .mutation(call(previewMessage)),

  previewTemplate: member
    .input(
      z.object({ template: z.string().min(1).max(100_000), body: z.string().max(MAX_SAMPLE_CHARACTERS) }),
    )
    .mutation(call(previewTemplate)),

  create: mutation(createTrigger),

  /** The slug names the trigger. */
  update: member
    .input(checkedInput(triggerDefinition))
    .mutation(({ ctx, input }) =>
      saveTrigger(ctx.services, ctx.actor, { definition: input, only: "update" }),
    ),

  setStatus: mutation(setTriggerStatus),
  rotateSecret: mutation(rotateTriggerSecret),

  rotateAddress: member.input(z.object({ id: z.uuid() })).mutation(async ({ ctx, input }) => {
    const { token } = await rotateTriggerToken(ctx.services, ctx.actor, input);
    return { url: triggerUrl(ctx.services.env.appUrl, token) };
  }),

  remove: member
    .input(z.object({ slug }))
    .mutation(({ ctx, input }) =>
      removeDefinition(ctx.services, ctx.actor, { kind: "trigger", slug: input.slug }),
    ),

  sendTest: member
    .input(z.object({ triggerId: z.uuid(), body: z.string().max(MAX_SAMPLE_CHARACTERS) }))
    .mutation(call(sendTestCall)),

  redeliver: member.input(z.object({ deliveryId: z.uuid() })).mutation(call(redeliver)),
});
