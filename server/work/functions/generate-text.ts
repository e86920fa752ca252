import { z } from "zod";
import type { Issue } from "@/server/base/errors";
import { anyJson } from "@/server/base/json/any-json";
import { isJsonObject, type JsonObject } from "@/server/base/json/json";
import { distinct, nameText } from "@/server/base/texts";
import { MAX_FALLBACK_MODELS } from "@/server/contract/sizes";
import {
  defineFunction,
  type FunctionContext,
  FunctionError,
  failAs,
} from "@/server/work/functions/core/define";
import { checkSchema } from "@/server/work/json-schema/schema";
import { describeIssues } from "@/server/work/json-schema/schema-issues";
import { readJsonAnswer, requestCorrection } from "@/server/work/models/json-answer";
import { ModelError, type ModelMessage } from "@/server/work/models/port";
import { findOptionIssues, modelSettings } from "@/server/work/models/settings";

const { parallelToolCalls: _, ...textSettings } = modelSettings.shape;

export const textInput = z.object({
  prompt: z.string().min(1).describe("What to write, with all the information it needs."),
  system: z.string().optional().describe("How the model should behave."),
  model: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("The model's name. Default: the agent's; of a tool, the service's."),
  fallbackModels: distinct(nameText)
    .max(MAX_FALLBACK_MODELS, `must have at most ${MAX_FALLBACK_MODELS} models`)
    .optional()
    .describe(
      "Up to three models that are called in turn if the model is unknown, or its provider does not answer. Default: none.",
    ),
  ...textSettings,
  modelOptions: textSettings.modelOptions.superRefine((options, { addIssue }) => {
    for (const message of findOptionIssues(options ?? {})) addIssue(message);
  }),
  schema: z
    .custom<JsonObject>(isJsonObject, "must be a JSON Schema")
    .optional()
    .describe("A JSON Schema (2020-12) that the answer must match."),
});

type TextInput = z.infer<typeof textInput>;

/**
 * The messages of the first model call. With `firstAnswer`, those of the second call, which asks for a correction
 * if that answer does not match the schema.
 */
export async function textMessages(
  { prompt, system, schema }: TextInput,
  organizationId: string,
  firstAnswer?: Parameters<typeof requestCorrection>[0],
): Promise<ModelMessage[]> {
  const messages: ModelMessage[] = [
    ...(system ? [{ role: "system" as const, content: system }] : []),
    { role: "user", content: prompt },
  ];
  if (schema === undefined || firstAnswer === undefined) return messages;
  const answer = await readJsonAnswer(firstAnswer.content, schema, organizationId);
  if ("value" in answer) return messages;
  return [...messages, ...requestCorrection(firstAnswer, answer.issue)];
}

/** One model call, or two when the first answer does not match the schema. */
export const generateText = defineFunction({
  name: "generate_text",
  title: "Generate text",
  description: "Asks a language model for a text. With a schema, asks for a JSON value that matches it.",
  input: textInput,
  output: anyJson.describe("The text; with a schema, the JSON value."),
  errors: {
    invalid_schema: "The schema is not a valid JSON Schema.",
    answer_invalid: "The model's second answer does not match the schema either.",
    model_failed: "The model provider rejects the call or cannot be reached.",
  },
  parsedFields: { schema: "schema" },
  findIssues({ model, fallbackModels, modelOptions }) {
    const issues: Issue[] = [];
    const fallbacks = Array.isArray(fallbackModels) ? fallbackModels : [];
    if (new Set(fallbacks).size < fallbacks.length)
      issues.push({ path: "/fallbackModels", message: "must not contain duplicates" });
    const own = model === undefined ? -1 : fallbacks.indexOf(model);
    if (own >= 0) issues.push({ path: `/fallbackModels/${own}`, message: "is the step's own model" });
    for (const message of isJsonObject(modelOptions) ? findOptionIssues(modelOptions) : [])
      issues.push({ path: "/modelOptions", message });
    return issues;
  },
  callsModels: true,
  hasSideEffects: false,
  // As one attempt of a model call (model-server.ts).
  timeoutMs: 1_800_000,
  example: {
    input: {
      prompt: "Name the city in: Parcel for Ada, Oslo harbor",
      schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
    output: { city: "Oslo" },
  },
  async run(input, context) {
    const { defaultModel, organizationId } = context;
    const callModel: FunctionContext["callModel"] = (request) =>
      context.callModel(request).catch(failAs(ModelError, "model_failed"));
    const { prompt: _prompt, system: _system, model = defaultModel, schema, ...others } = input;
    const { maxOutputTokens, fallbackModels, ...settings } = others;
    const request = { model, fallbackModels, maxOutputTokens, settings, tools: [] };
    const messages = await textMessages(input, organizationId);
    if (schema === undefined) return (await callModel({ ...request, messages })).content;

    const issues = await checkSchema(schema, organizationId);
    if (issues.length > 0)
      throw new FunctionError("invalid_schema", `The schema is invalid: ${describeIssues(issues)}`);
    const first = await callModel({ ...request, messages, responseSchema: schema });
    const answer = await readJsonAnswer(first.content, schema, organizationId);
    if ("value" in answer) return answer.value;
    const again = await textMessages(input, organizationId, first);
    const second = await callModel({ ...request, messages: again, responseSchema: schema });
    const corrected = await readJsonAnswer(second.content, schema, organizationId);
    if ("value" in corrected) return corrected.value;
    throw new FunctionError(
      "answer_invalid",
      `The model's answer does not match the schema: ${corrected.issue}.`,
    );
  },
});
