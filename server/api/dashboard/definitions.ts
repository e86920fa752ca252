import { z } from "zod";
import { memberProcedure, router } from "@/server/api/trpc";
import { inspectAgent, inspectTool } from "@/server/catalog/inspect-definition";
import { listVersions, readVersionChanges } from "@/server/catalog/versions";

const viewer = memberProcedure("viewer");
const reference = z.object({ kind: z.enum(["agent", "tool"]), id: z.uuid() });

/** One agent or tool: its definition and its versions. */
export const definitionsRouter = router({
  agent: viewer
    .input(z.object({ agentId: z.uuid() }))
    .query(({ ctx, input }) => inspectAgent(ctx.services, ctx.actor, input.agentId)),

  tool: viewer
    .input(z.object({ toolId: z.uuid() }))
    .query(({ ctx, input }) => inspectTool(ctx.services, ctx.actor, input.toolId)),

  versions: viewer
    .input(
      reference.extend({
        /** The page begins after this number, towards older versions. */
        cursor: z.int32().min(1).nullish(),
        limit: z.int().min(1).max(50).default(20),
      }),
    )
    .query(({ ctx, input: { cursor, ...input } }) =>
      listVersions(ctx.services, ctx.actor, { ...input, before: cursor ?? undefined }),
    ),

  changes: viewer
    .input(reference.extend({ number: z.int32().min(1) }))
    .query(({ ctx, input }) => readVersionChanges(ctx.services, ctx.actor, input)),
});
