import { z } from "zod";
import { memberProcedure, router } from "@/server/api/trpc";
import { parseInput } from "@/server/base/issues";
import { text } from "@/server/base/texts";
import { listArchived, removeDefinition, restoreDefinition } from "@/server/catalog/archive";
import { REPLACES } from "@/server/catalog/change";
import { agentDefinition } from "@/server/catalog/definitions";
import {
  checkToolText,
  findStepMentions,
  readChoices,
  readEditedAgent,
  readFunctions,
  readToolSchemas,
  readToolText,
  saveToolText,
} from "@/server/catalog/edit-definition";
import { inspectAgent, inspectTool } from "@/server/catalog/inspect-definition";
import { saveAgent } from "@/server/catalog/save-agent";
import { listVersions, readVersionChanges, returnToVersion } from "@/server/catalog/versions";
import { RUN_KINDS } from "@/server/contract/enums";
import { idInput } from "@/server/contract/ids";
import { mutation, resolver } from "./procedures";

const viewer = memberProcedure("viewer");
const member = memberProcedure("member");
const reference = z.object({ kind: z.enum(RUN_KINDS), id: idInput() });
const agent = z.object({ agentId: idInput() });
const tool = z.object({ toolId: idInput() });
const number = z.int32().min(1);

const expected = z.discriminatedUnion("only", [
  z.object({ only: z.literal("create") }),
  z.object({ only: z.literal("update"), id: idInput(), version: number, ...REPLACES }),
]);
const yaml = z.string().max(1_000_000);
const note = text(500).default("");

export const definitionsRouter = router({
  agent: viewer.input(agent).query(resolver(inspectAgent)),
  tool: viewer.input(tool).query(resolver(inspectTool)),

  versions: viewer
    .input(
      reference.extend({
        /** The page starts after this number, towards older versions. */
        cursor: number.nullish(),
        limit: z.int().min(1).max(50).default(20),
      }),
    )
    .query(resolver(listVersions)),
  changes: viewer
    .input(
      reference.extend({
        number,
        from: z.enum(["previous", "current"]).default("previous"),
      }),
    )
    .query(resolver(readVersionChanges)),
  returnTo: member.input(reference.extend({ number, current: number })).mutation(resolver(returnToVersion)),

  archive: member.input(reference).mutation(resolver(removeDefinition)),
  restore: mutation(restoreDefinition),
  archived: viewer.input(reference.pick({ kind: true })).query(resolver(listArchived)),

  choices: viewer.query(resolver(readChoices)),
  functions: viewer.query(() => readFunctions()),
  toolSchemas: viewer.query(() => readToolSchemas()),

  editAgent: viewer.input(agent).query(resolver(readEditedAgent)),
  saveAgent: member
    .input(z.object({ definition: z.unknown(), expected, note }))
    .mutation(({ ctx, input: { definition, expected, note } }) =>
      saveAgent(ctx.services, ctx.actor, {
        definition: parseInput(agentDefinition, definition),
        ...expected,
        note,
      }),
    ),

  editTool: viewer.input(tool).query(resolver(readToolText)),
  /** Changes nothing; it is a mutation because definitions are too long for a URL. */
  checkTool: member.input(z.object({ yaml })).mutation(resolver(checkToolText)),
  stepMentions: member
    .input(z.object({ yaml, step: z.string().min(1).max(64) }))
    .mutation(resolver(findStepMentions)),
  saveTool: member
    .input(z.object({ yaml, expected, note }))
    .mutation(({ ctx, input: { yaml, expected, note } }) =>
      saveToolText(ctx.services, ctx.actor, { yaml, ...expected, note }),
    ),
});
