import { z } from "zod";
import { testProvider } from "@/server/api/test-provider";
import { memberProcedure, router } from "@/server/api/trpc";
import { listModelProviders, listProviderUsers } from "@/server/catalog/organization/list-model-providers";
import {
  providerChange,
  removeModelProvider,
  saveModelProvider,
} from "@/server/catalog/organization/model-providers";
import { checkedInput } from "./checked-input";

const viewer = memberProcedure("viewer");
const admin = memberProcedure("admin");
const named = z.object({ name: z.string().max(64) });

/** The model providers of the organization, and those of the service. */
export const modelsRouter = router({
  list: viewer.query(({ ctx }) => listModelProviders(ctx.services, ctx.actor)),

  /** The agents and tools that use a provider's models. */
  users: viewer.input(named).query(({ ctx, input }) => listProviderUsers(ctx.services, ctx.actor, input)),

  save: admin
    .input(checkedInput(providerChange))
    .mutation(({ ctx, input }) => saveModelProvider(ctx.services, ctx.actor, input)),

  test: memberProcedure("admin", { waitsOutside: true })
    .input(named.extend({ model: z.string().max(200) }))
    .mutation(({ ctx, input }) => testProvider(ctx.services, ctx.actor, input)),

  remove: admin
    .input(named)
    .mutation(({ ctx, input }) => removeModelProvider(ctx.services, ctx.actor, input)),
});
