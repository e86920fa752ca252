import { z } from "zod";
import { testProvider } from "@/server/api/test-provider";
import { memberProcedure, router } from "@/server/api/trpc";
import { listModelProviders, listProviderUsers } from "@/server/catalog/organization/list-model-providers";
import {
  providerChange,
  removeModelProvider,
  saveModelProvider,
} from "@/server/catalog/organization/model-providers";
import { call, checkedInput } from "./procedures";

const viewer = memberProcedure("viewer");
const admin = memberProcedure("admin");
const named = z.object({ name: z.string().max(64) });

/** The model providers of the organization, and those of the service. */
export const modelsRouter = router({
  list: viewer.query(call(listModelProviders)),

  /** The agents and tools that use a provider's models. */
  users: viewer.input(named).query(call(listProviderUsers)),

  save: admin.input(checkedInput(providerChange)).mutation(call(saveModelProvider)),

  test: memberProcedure("admin", { waitsOutside: true })
    .input(named.extend({ model: z.string().max(200) }))
    .mutation(call(testProvider)),

  remove: admin.input(named).mutation(call(removeModelProvider)),
});
