import { z } from "zod";
import { memberProcedure, router, startProcedure } from "@/server/api/trpc";
import { sendTestCall } from "@/server/api/try/test-call";
import { removeDefinition } from "@/server/catalog/archive";
import { REPLACES } from "@/server/catalog/change";
import {
  createTrigger,
  rotateTriggerSecret,
  rotateTriggerToken,
  setTriggerStatus,
} from "@/server/catalog/change-trigger";
import { slug, triggerDefinition } from "@/server/catalog/definitions";
import { saveTrigger } from "@/server/catalog/save-trigger";
import {
  inspectDelivery,
  listDeliveries,
  previewMessage,
  previewTemplate,
} from "@/server/catalog/webhooks/inspect-deliveries";
import { inspectTrigger } from "@/server/catalog/webhooks/inspect-trigger";
import { redeliver } from "@/server/catalog/webhooks/redeliver";
import { triggerUrl } from "@/server/catalog/webhooks/trigger";
import { DELIVERY_OUTCOMES } from "@/server/contract/enums";
import { idInput } from "@/server/contract/ids";
import { checkedInput, mutation, pageInput, resolver, starter } from "./procedures";

const body = z.string().max(100_000);
const template = z.string().min(1).max(100_000);

const viewer = memberProcedure("viewer");
const member = memberProcedure("member");
const trigger = z.object({ triggerId: idInput() });
const delivery = z.object({ deliveryId: idInput() });

export const triggersRouter = router({
  inspect: viewer.input(trigger).query(resolver(inspectTrigger)),
  deliveries: viewer
    .input(trigger.extend({ outcome: z.enum(DELIVERY_OUTCOMES).optional(), ...pageInput(idInput()) }))
    .query(resolver(listDeliveries)),
  delivery: viewer
    .input(delivery.extend({ complete: z.boolean().optional() }))
    .query(resolver(inspectDelivery)),

  /** Changes nothing; it is a mutation because templates are too long for a URL. */
  previewMessage: member.input(delivery.extend({ template })).mutation(resolver(previewMessage)),
  previewTemplate: member.input(z.object({ template, body })).mutation(resolver(previewTemplate)),

  create: mutation(createTrigger),
  /** The slug names the trigger. */
  update: member
    .input(checkedInput(triggerDefinition.safeExtend(REPLACES)))
    .mutation(({ ctx, input: { replaces, ...definition } }) =>
      saveTrigger(ctx.services, ctx.actor, { definition, only: "update", replaces }),
    ),
  setStatus: mutation(setTriggerStatus),
  rotateSecret: mutation(rotateTriggerSecret),
  rotateAddress: mutation({
    ...rotateTriggerToken,
    run: async (services, actor, input) => {
      const { token } = await rotateTriggerToken.run(services, actor, input);
      return { url: triggerUrl(services.env.appUrl, token) };
    },
  }),
  remove: member
    .input(z.object({ slug }))
    .mutation(({ ctx, input }) =>
      removeDefinition(ctx.services, ctx.actor, { kind: "trigger", slug: input.slug }),
    ),

  sendTest: member.input(trigger.extend({ body })).mutation(resolver(sendTestCall)),
  redeliver: startProcedure.input(delivery).mutation(starter(redeliver)),
});
