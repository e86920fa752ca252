import { z } from "zod";
import { workflowDefinition } from "@/server/workflow/definition";

/** A function or tool attached to an agent, frozen at the start of a run. `name` is what the model sees. */
const attachedCallable = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("function"), name: z.string() }),
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
  }),
]);
export type AttachedCallable = z.infer<typeof attachedCallable>;

const agentConfiguration = z.object({
  kind: z.literal("agent"),
  name: z.string(),
  model: z.string(),
  systemPrompt: z.string(),
  maxSteps: z.number().int().min(1).max(12),
  callables: z.array(attachedCallable),
  /** Whether the user message came from outside through a webhook; the prompt tells the model. */
  messageFromOutside: z.boolean(),
});
export type AgentConfiguration = z.infer<typeof agentConfiguration>;

export const toolConfiguration = z.object({
  kind: z.literal("tool"),
  name: z.string(),
  definition: workflowDefinition,
});
export type ToolConfiguration = z.infer<typeof toolConfiguration>;

export const runConfiguration = z.discriminatedUnion("kind", [agentConfiguration, toolConfiguration]);
export type RunConfiguration = z.infer<typeof runConfiguration>;
