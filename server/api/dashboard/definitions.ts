import { z } from "zod";
import { memberProcedure, router } from "@/server/api/trpc";
import { agentDefinition } from "@/server/catalog/definitions";
import {
  checkToolText,
  readAgentDefinition,
  readChoices,
  readToolText,
  saveToolText,
} from "@/server/catalog/edit-definition";
import { inspectAgent, inspectTool } from "@/server/catalog/inspect-definition";
import { parseInput } from "@/server/catalog/issues";
import { saveAgent } from "@/server/catalog/save-agent";
import { listVersions, readVersionChanges } from "@/server/catalog/versions";
import { RUN_KINDS } from "@/server/contract/enums";

const viewer = memberProcedure("viewer");
const member = memberProcedure("member");
const reference = z.object({ kind: z.enum(RUN_KINDS), id: z.uuid() });

/** The version that was edited; unset for a new one. */
const expected = z.object({
  only: z.enum(["create", "update"]),
  version: z.int32().min(1).optional(),
});
const yaml = z.string().max(1_000_000);

/** One agent or tool: its definition, its versions, and editing it. */
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

  choices: viewer.query(({ ctx }) => readChoices(ctx.services, ctx.actor)),

  editAgent: viewer
    .input(z.object({ agentId: z.uuid() }))
    .query(({ ctx, input }) => readAgentDefinition(ctx.services, ctx.actor, input.agentId)),

  saveAgent: member
    .input(z.object({ definition: z.unknown(), expected }))
    .mutation(({ ctx, input }) =>
      saveAgent(ctx.services, ctx.actor, parseInput(agentDefinition, input.definition), input.expected),
    ),

  editTool: viewer
    .input(z.object({ toolId: z.uuid() }))
    .query(({ ctx, input }) => readToolText(ctx.services, ctx.actor, input.toolId)),

  checkTool: member
    .input(z.object({ yaml }))
    .query(({ ctx, input }) => checkToolText(ctx.services, ctx.actor, input.yaml)),

  saveTool: member
    .input(z.object({ yaml, expected }))
    .mutation(({ ctx, input }) => saveToolText(ctx.services, ctx.actor, input)),
});
