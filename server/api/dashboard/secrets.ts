import { z } from "zod";
import { memberProcedure, router } from "@/server/api/trpc";
import { secretRules } from "@/server/catalog/definitions";
import {
  changeSecretRules,
  listSecrets,
  listSecretUsers,
  removeSecret,
  setSecret,
} from "@/server/catalog/organization/secrets";
import { SECRET_NAME } from "@/server/secrets/references";
import { call, checkedInput } from "./procedures";

const admin = memberProcedure("admin");
/** Checked with its faults named by `setSecret`. */
const newValue = z.object({
  name: z.string(),
  value: z.string(),
  hosts: z.array(z.string()).optional(),
  expiresAt: z.string().nullish(),
});

/** The organization's secrets. No procedure returns a value. */
export const secretsRouter = router({
  list: memberProcedure("viewer").query(call(listSecrets)),

  /** The tools that refer to a secret. */
  users: memberProcedure("viewer")
    .input(z.object({ name: z.string().regex(SECRET_NAME) }))
    .query(call(listSecretUsers)),

  create: admin
    .input(newValue)
    .mutation(({ ctx, input }) => setSecret(ctx.services, ctx.actor, { secret: input, only: "create" })),

  /** A new value, and other hosts if they are given. */
  replace: admin
    .input(newValue)
    .mutation(({ ctx, input }) => setSecret(ctx.services, ctx.actor, { secret: input, only: "update" })),

  /** Other hosts and another expiry; the value stays. */
  changeRules: admin.input(checkedInput(secretRules)).mutation(call(changeSecretRules)),

  remove: admin.input(z.object({ name: z.string().max(64) })).mutation(call(removeSecret)),
});
