import { z } from "zod";
import { WORKFLOW_LIMITS, workflowDefinition } from "@/server/work/workflow/definition";

/** How an agent may use one attached function or tool. */
const attachmentPolicy = z.strictObject({
  maxCalls: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .describe("The most calls that one run executes; further ones are refused. Default: no limit."),
  retries: z
    .int()
    .min(0)
    .max(WORKFLOW_LIMITS.retries)
    .optional()
    .describe("Further attempts of a failed call, before the model is informed. Default: none."),
  onError: z
    .enum(["fail", "continue"])
    .optional()
    .describe("Whether a failed call ends the run. With continue, the model is informed. Default: continue."),
});
export type AttachmentPolicy = z.infer<typeof attachmentPolicy>;

/** The parts of an agent's version that are stored as one JSON document. */
export const agentSettings = z.object({
  outputSchema: workflowDefinition.shape.outputSchema.describe(
    "JSON Schema of the answer, which is then JSON. Default: the answer is text.",
  ),
  policies: z
    .record(z.string(), attachmentPolicy)
    .default({})
    .describe("How it may use its functions and tools, by their names."),
});
export type AgentSettings = z.infer<typeof agentSettings>;

/** The settings of an agent version, from the JSON text in its row. */
export const readAgentSettings = (text: string): AgentSettings => agentSettings.parse(JSON.parse(text));

/** The policy of an attachment; a slug such as `constructor` is not a key unless it is set. */
export function policyOf(policies: AgentSettings["policies"], name: string): AttachmentPolicy | undefined {
  return Object.hasOwn(policies, name) ? policies[name] : undefined;
}

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

const agentConfiguration = z.object({
  kind: z.literal("agent"),
  name: z.string(),
  model: z.string(),
  systemPrompt: z.string(),
  maxSteps: z.number().int().min(1).max(12),
  callables: z.array(attachedCallable),
  outputSchema: agentSettings.shape.outputSchema,
  /** Whether the user message came from outside through a webhook; the prompt marks it as data. */
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

/** Whether a run's output is JSON: that of a tool, or of an agent with an output schema. Else it is text. */
export function answersWithJson(configuration: RunConfiguration): boolean {
  return configuration.kind === "tool" || configuration.outputSchema !== undefined;
}
