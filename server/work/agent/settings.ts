import { z } from "zod";
import { readJson } from "@/server/base/json/json";
import { distinct, nameText, text } from "@/server/base/texts";
import { formatLimit, KIB, MAX_FALLBACK_MODELS } from "@/server/contract/sizes";
import { modelSettings } from "@/server/work/models/settings";
import { WORKFLOW_LIMITS, workflowDefinition } from "@/server/work/workflow/definition";

/** Of an output schema. Every model call pays for it. */
export const MAX_AGENT_SCHEMA_BYTES = 64 * KIB;

export const attachmentPolicy = z.strictObject({
  maxCalls: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .describe("The most calls that one run executes; further ones are rejected. Default: no limit."),
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

/**
 * An agent's settings. Versions, definition files and runs store them; the forms, pages, comparisons, the schema
 * and the guide of definition files show them in this order.
 */
export const agentSettings = z.object({
  model: nameText.describe("The model that it calls."),
  fallbackModels: distinct(nameText)
    .max(MAX_FALLBACK_MODELS, `must have at most ${MAX_FALLBACK_MODELS} models`)
    .optional()
    .describe(
      "Up to three models that it calls in turn if the model is unknown, or its provider does not answer. Default: none.",
    ),
  ...modelSettings.shape,
  systemPrompt: text(200_000)
    .default("")
    .describe("What the agent is for, how it works, and how it answers. Default: empty."),
  maxSteps: z.int().min(1).max(12).default(8).describe("Model calls of one run, 1 to 12."),
  functions: distinct(text(200)).default([]).describe("The functions that it may call. Default: none."),
  // A text that cannot be a slug is rejected as an unknown tool, with the known ones.
  tools: distinct(text(200)).default([]).describe("Slugs of the tools that it may call. Default: none."),
  outputSchema: workflowDefinition.shape.outputSchema.describe(
    `JSON Schema of the answer, which is then JSON, up to ${formatLimit(MAX_AGENT_SCHEMA_BYTES)}. Default: the answer is text.`,
  ),
  policies: z
    .record(z.string(), attachmentPolicy)
    .default({})
    .describe("How it may use its functions and tools, by their names. Default: no limits."),
});
export type AgentSettings = z.infer<typeof agentSettings>;

export const readAgentSettings = (version: { definition: string }): AgentSettings =>
  agentSettings.parse(readJson(version.definition));

/** The policy of an attachment; a slug such as `constructor` is not a key unless it is set. */
export function policyOf(policies: AgentSettings["policies"], name: string): AttachmentPolicy | undefined {
  return Object.hasOwn(policies, name) ? policies[name] : undefined;
}
