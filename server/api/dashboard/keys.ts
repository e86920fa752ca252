import { z } from "zod";
import { memberProcedure, router } from "@/server/api/trpc";
import { apiKeyDefinition } from "@/server/catalog/definitions";
import { createApiKey, revokeApiKey } from "@/server/catalog/organization/api-keys";
import { checkedInput } from "./checked-input";

const admin = memberProcedure("admin");

/** Creating and revoking API keys. */
export const keysRouter = router({
  create: admin
    .input(checkedInput(apiKeyDefinition))
    .mutation(({ ctx, input }) => createApiKey(ctx.services, ctx.actor, input)),

  revoke: admin
    .input(z.object({ id: z.uuid() }))
    .mutation(({ ctx, input }) => revokeApiKey(ctx.services, ctx.actor, input)),
});
