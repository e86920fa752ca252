import { z } from "zod";
import { memberProcedure, router } from "@/server/api/trpc";
import { apiKeyDefinition } from "@/server/catalog/definitions";
import { createApiKey, revokeApiKey } from "@/server/catalog/organization/api-keys";
import { call, checkedInput } from "./procedures";

const admin = memberProcedure("admin");

/** Creating and revoking API keys. */
export const keysRouter = router({
  create: admin.input(checkedInput(apiKeyDefinition)).mutation(call(createApiKey)),

  revoke: admin.input(z.object({ id: z.uuid() })).mutation(call(revokeApiKey)),
});
