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
import { checkedInput } from "./checked-input";

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
  list: memberProcedure("viewer").query(({ ctx }) => listSecrets(ctx.services, ctx.actor)),

  /** The tools that refer to a secret. */
  users: memberProcedure("viewer")
    .input(z.object({ name: z.string().regex(SECRET_NAME) }))
    .query(({ ctx, input }) => listSecretUsers(ctx.services, ctx.actor, input)),

  create: admin
    .input(newValue)
    .mutation(({ ctx, input }) => setSecret(ctx.services, ctx.actor, input, { only: "create" })),

  /** A new value, and other hosts if they are given. */
  replace: admin
    .input(newValue)
    .mutation(({ ctx, input }) => setSecret(ctx.services, ctx.actor, input, { only: "update" })),

  /** Other hosts and another expiry; the value stays. */
  changeRules: admin
    .input(checkedInput(secretRules))
    .mutation(({ ctx, input }) => changeSecretRules(ctx.services, ctx.actor, input)),

  remove: admin
    .input(z.object({ name: z.string().max(64) }))
    .mutation(({ ctx, input }) => removeSecret(ctx.services, ctx.actor, input)),
});
