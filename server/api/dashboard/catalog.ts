import { memberProcedure, router } from "@/server/api/trpc";
import { listDirectory } from "@/server/catalog/directory";
import { listAgents, listFilterTargets, listKeys, listTools, listTriggers } from "@/server/catalog/overview";

const viewer = memberProcedure("viewer");

/** Reading agents, tools, triggers and keys in the dashboard. */
export const catalogRouter = router({
  agents: viewer.query(({ ctx }) => listAgents(ctx.services, ctx.actor)),
  tools: viewer.query(({ ctx }) => listTools(ctx.services, ctx.actor)),
  triggers: viewer.query(({ ctx }) => listTriggers(ctx.services, ctx.actor)),
  keys: viewer.query(({ ctx }) => listKeys(ctx.services, ctx.actor)),
  directory: viewer.query(({ ctx }) => listDirectory(ctx.services, ctx.actor)),
  filterTargets: viewer.query(({ ctx }) => listFilterTargets(ctx.services, ctx.actor)),
});
