import { z } from "zod";
import { anyJson } from "@/server/base/json/any-json";
import { workflowDefinition } from "@/server/work/workflow/definition";
import { agentSettings, attachmentPolicy } from "./settings";

const policy = attachmentPolicy.optional();

/** A function or tool attached to an agent, frozen at the start of a run. `name` is what the model sees. */
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
    /** The tool's own cap in credits, within the cap of the calling run. */
    maxCredits: z.string().nullable().default(null),
    policy,
  }),
]);
export type AttachedCallable = z.infer<typeof attachedCallable>;

/** An agent's settings as a run freezes them: with its functions and tools instead of their names and policies. */
const agentConfiguration = z.object({
  kind: z.literal("agent"),
  name: z.string(),
  ...agentSettings.omit({ functions: true, tools: true, policies: true }).shape,
  callables: z.array(attachedCallable),
  /** True if the user message came from outside through a webhook; the prompt marks it as data. */
  messageFromOutside: z.boolean(),
});
export type AgentConfiguration = z.infer<typeof agentConfiguration>;

export const toolConfiguration = z.object({
  kind: z.literal("tool"),
  name: z.string(),
  definition: workflowDefinition,
  /** In a try, the outputs of steps that are not executed, by their ids. */
  pinned: z.record(z.string(), anyJson).optional(),
});
export type ToolConfiguration = z.infer<typeof toolConfiguration>;

export const runConfiguration = z.discriminatedUnion("kind", [agentConfiguration, toolConfiguration]);
export type RunConfiguration = z.infer<typeof runConfiguration>;

/** Returns true if a run's output is JSON: that of a tool, or of an agent with an output schema. Else it is text. */
export function answersWithJson(configuration: RunConfiguration): boolean {
  return configuration.kind === "tool" || configuration.outputSchema !== undefined;
}
