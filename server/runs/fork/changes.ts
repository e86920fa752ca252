import { z } from "zod";
import { anyJson } from "@/server/base/json/any-json";
import { isJsonObject, type Json, type JsonObject } from "@/server/base/json/json";
import { nameText, text } from "@/server/base/texts";
import { FORK_MODES } from "@/server/contract/enums";
import { agentSettings } from "@/server/work/agent/settings";

// As parsed: no key is dropped or renamed.
const argumentsOfCall = z.custom<JsonObject>(isJsonObject, "must be a JSON object").meta({
  description: "Replaces the arguments of the step's call",
  override: { type: "object", additionalProperties: true },
});
const outputOfStep = z
  .custom<Json>((value) => anyJson.safeParse(value).success, "must be JSON")
  .meta({ description: "Replaces the step's output; the step is not executed", override: {} });

/** Characters of a changed user message. */
export const MAX_CHANGED_MESSAGE = 300_000;

const forkChanges = z
  .strictObject({
    systemPrompt: agentSettings.shape.systemPrompt.unwrap().optional().meta({ description: "Of an agent" }),
    model: nameText.optional().meta({ description: "Of an agent" }),
    userMessage: text(MAX_CHANGED_MESSAGE).min(1).optional().meta({ description: "Of an agent" }),
    input: argumentsOfCall.optional(),
    output: outputOfStep.optional(),
    toolVersion: z.int().min(1).optional().meta({
      description: "The version of the tool: of a tool's run, or of the tool that the agent's step calls",
    }),
  })
  .meta({ id: "ForkChanges" });
export type ForkChanges = z.output<typeof forkChanges>;

export const forkRequest = z.strictObject({
  fromStep: z.int().min(1).max(1_000_000).meta({
    description:
      "The stepNumber of the first step that is not taken over; one more than the last step: everything but the answer",
  }),
  changes: forkChanges.default({}),
  tools: z.enum(FORK_MODES).meta({
    description:
      "recorded: the run's steps answer calls with the same name and arguments, other calls fail. live: functions and " +
      "tools are executed, with their side effects",
  }),
});
export type ForkRequest = z.output<typeof forkRequest>;

/** Returns true if the changes need the right to change definitions. */
export function changesDefinition({ systemPrompt, model, toolVersion }: ForkChanges): boolean {
  return systemPrompt !== undefined || model !== undefined || toolVersion !== undefined;
}
