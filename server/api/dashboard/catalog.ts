import { memberProcedure, router } from "@/server/api/trpc";
import { listDirectory } from "@/server/catalog/directory";
import { listAgents, listFilterTargets, listKeys, listTools, listTriggers } from "@/server/catalog/overview";
import { call } from "./procedures";

const viewer = memberProcedure("viewer");

/** Reading agents, tools, triggers and keys in the dashboard. */
export const catalogRouter = router({
  agents: viewer.query(call(listAgents)),
  tools: viewer.query(call(listTools)),
  triggers: viewer.query(call(listTriggers)),
  keys: viewer.query(call(listKeys)),
  directory: viewer.query(call(listDirectory)),
  filterTargets: viewer.query(call(listFilterTargets)),
});
