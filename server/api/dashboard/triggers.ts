import { z } from "zod";
import { memberProcedure, router } from "@/server/api/trpc";
import { DELIVERY_OUTCOMES } from "@/server/contract/enums";
import { inspectDelivery, listDeliveries, previewMessage } from "@/server/webhooks/inspect-deliveries";
import { inspectTrigger } from "@/server/webhooks/inspect-trigger";
import { redeliver } from "@/server/webhooks/redeliver";

const viewer = memberProcedure("viewer");
const member = memberProcedure("member");

export const triggersRouter = router({
  inspect: viewer
    .input(z.object({ triggerId: z.uuid() }))
    .query(({ ctx, input }) => inspectTrigger(ctx.services, ctx.actor, input.triggerId)),

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
    .query(({ ctx, input: { cursor, ...input } }) =>
      listDeliveries(ctx.services, ctx.actor, { ...input, before: cursor ?? undefined }),
    ),

  delivery: viewer
    .input(z.object({ deliveryId: z.uuid(), complete: z.boolean().optional() }))
    .query(({ ctx, input }) => inspectDelivery(ctx.services, ctx.actor, input)),

  /** Changes nothing; it is a mutation because templates are too long for a URL. */
  previewMessage: member
    .input(z.object({ deliveryId: z.uuid(), template: z.string().min(1).max(100_000) }))
    .mutation(({ ctx, input }) => previewMessage(ctx.services, ctx.actor, input)),

  redeliver: member
    .input(z.object({ deliveryId: z.uuid() }))
    .mutation(({ ctx, input }) => redeliver(ctx.services, ctx.actor, input.deliveryId)),
});
