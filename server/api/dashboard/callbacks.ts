import { z } from "zod";
import { memberProcedure, router } from "@/server/api/trpc";
import {
  createCallback,
  removeCallback,
  rotateCallbackSecret,
  setCallbackStatus,
  updateCallback,
} from "@/server/catalog/callbacks/change-callback";
import {
  CALLBACK_DELIVERY_STATES,
  inspectCallbackDelivery,
  listCallbackDeliveries,
} from "@/server/catalog/callbacks/inspect-callback-deliveries";
import { inspectCallback, listCallbacks } from "@/server/catalog/callbacks/list-callbacks";
import {
  redeliverCallback,
  redeliverFailed,
  sendTestCallback,
} from "@/server/catalog/callbacks/redeliver-callbacks";
import { idInput } from "@/server/contract/ids";
import { mutation, pageInput, resolver } from "./procedures";

const viewer = memberProcedure("viewer");
const member = memberProcedure("member");
const callback = z.object({ callbackId: idInput() });
const delivery = z.object({ deliveryId: idInput() });

export const callbacksRouter = router({
  list: viewer.query(resolver(listCallbacks)),
  inspect: viewer.input(callback).query(resolver(inspectCallback)),
  deliveries: viewer
    .input(
      z.object({
        callbackId: idInput().optional(),
        state: z.enum(CALLBACK_DELIVERY_STATES).optional(),
        ...pageInput(idInput()),
      }),
    )
    .query(resolver(listCallbackDeliveries)),
  delivery: viewer.input(delivery).query(resolver(inspectCallbackDelivery)),

  create: mutation(createCallback),
  /** The slug names the callback. */
  update: mutation(updateCallback),
  setStatus: mutation(setCallbackStatus),
  rotateSecret: mutation(rotateCallbackSecret),
  remove: mutation(removeCallback),

  redeliver: member.input(delivery).mutation(resolver(redeliverCallback)),
  /** Null: those of all callbacks. */
  redeliverFailed: member
    .input(
      z.object({
        callbackId: idInput().nullable(),
        since: z.iso.datetime().transform((text) => new Date(text)),
      }),
    )
    .mutation(resolver(redeliverFailed)),
  sendTest: memberProcedure("member", { waitsOutside: true })
    .input(callback)
    .mutation(resolver(sendTestCallback)),
});
