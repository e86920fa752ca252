import { z } from "zod";
import { memberProcedure, router } from "@/server/api/trpc";
import { listSecrets, removeSecret, setSecret } from "@/server/catalog/secrets";

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

  create: admin
    .input(newValue)
    .mutation(({ ctx, input }) => setSecret(ctx.services, ctx.actor, input, { only: "create" })),

  /** A new value, and other hosts if they are given. */
  replace: admin
    .input(newValue)
    .mutation(({ ctx, input }) => setSecret(ctx.services, ctx.actor, input, { only: "update" })),

  remove: admin
    .input(z.object({ name: z.string().max(64) }))
    .mutation(({ ctx, input }) => removeSecret(ctx.services, ctx.actor, input)),
});
