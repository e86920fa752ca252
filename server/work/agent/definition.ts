import { z } from "zod";
import { anyJson } from "@/server/base/json/any-json";
import { isJsonObject, type JsonObject } from "@/server/base/json/json";
import { FORK_MODES } from "@/server/contract/enums";
import { workflowDefinition } from "@/server/work/workflow/definition";
import { pastRun } from "@/server/work/workflow/past-run";
import { agentSettings, attachmentPolicy } from "./settings";

const policy = attachmentPolicy.optional();
const jsonObject = z.custom<JsonObject>(isJsonObject);

const attachedCallable = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("function"), name: z.string(), policy }),
  z.object({
    kind: z.literal("tool"),
    name: z.string(),
    toolId: z.string(),
    version: z.number().int(),
    title: z.string(),
    description: z.string(),
    definition: workflowDefinition,
    deadlineSeconds: z.number().int(),
    /** In credits, within the cap of the calling run. */
    maxCredits: z.string().nullable().default(null),
    policy,
  }),
]);
export type AttachedCallable = z.infer<typeof attachedCallable>;

const forkFacts = z.object({
  runId: z.string(),
  tools: z.enum(FORK_MODES),
});

const agentConfiguration = z.object({
  kind: z.literal("agent"),
  name: z.string(),
  ...agentSettings.omit({ functions: true, tools: true, policies: true }).shape,
  callables: z.array(attachedCallable),
  /** The user message came through a webhook; the prompt marks it as data. */
  messageFromOutside: z.boolean(),
  fork: forkFacts.optional(),
});
export type AgentConfiguration = z.infer<typeof agentConfiguration>;

export const toolConfiguration = z.object({
  kind: z.literal("tool"),
  name: z.string(),
  definition: workflowDefinition,
  /** The input came through a webhook. Agents that the tool calls get their messages as data. */
  fromOutside: z.boolean().optional(),
  /** In a test run, the outputs of steps that are not executed, by their ids. */
  pinned: z.record(z.string(), anyJson).optional(),
  fork: forkFacts
    .extend({
      /** In the order of the steps. */
      past: z.array(pastRun),
      /** The arguments of calls by their keys, instead of their own. */
      inputs: z.record(z.string(), jsonObject).optional(),
    })
    .optional(),
});
export type ToolConfiguration = z.infer<typeof toolConfiguration>;

export const runConfiguration = z.discriminatedUnion("kind", [agentConfiguration, toolConfiguration]);
export type RunConfiguration = z.infer<typeof runConfiguration>;

/** Returns true if a webhook sent the run's input, or the input of the run that it repeats or that called it. */
export function isFromOutside(configuration: RunConfiguration): boolean {
  return configuration.kind === "agent"
    ? configuration.messageFromOutside
    : configuration.fromOutside === true;
}

/** Returns true if a run's output is JSON: that of a tool, or of an agent with an output schema. Else it is text. */
export function answersWithJson(configuration: RunConfiguration): boolean {
  return configuration.kind === "tool" || configuration.outputSchema !== undefined;
}
