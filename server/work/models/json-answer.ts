import type { Json, JsonObject } from "@/server/base/json/json";
import { parseLargeJson } from "@/server/base/json/large";
import { cleanLargeJson } from "@/server/guard/secrets/stored-output";
import { validateAgainst } from "@/server/work/json-schema/schema";
import { describeIssues } from "@/server/work/json-schema/schema-issues";
import type { ModelMessage } from "@/server/work/models/port";

/** Faults name keys of the answer, which may be long. */
const MAX_FAULT_LENGTH = 2_000;

/** The value of a model's answer that must match a schema, or the answer's fault. Models like to add a fence. */
export async function readJsonAnswer(
  content: string,
  schema: JsonObject,
  organizationId: string,
): Promise<{ value: Json } | { fault: string }> {
  // Each repetition can end at one place only: otherwise an answer of line ends takes minutes.
  const fenced = /^\s*```(?:json)?[^\S\n]*\n([\s\S]*?)```\s*$/.exec(content);
  let value: Json;
  try {
    value = await cleanLargeJson(await parseLargeJson(fenced?.[1] ?? content));
  } catch {
    return { fault: "it is not JSON" };
  }
  const issues = await validateAgainst(schema, value, organizationId);
  return issues.length === 0 ? { value } : { fault: describeIssues(issues).slice(0, MAX_FAULT_LENGTH) };
}

/** The sentence that describes the schema of the answer to a model, where the provider does not enforce it. */
export const describeSchema = (schema: JsonObject): string =>
  `Your final answer must be only JSON, without other text, that matches this JSON Schema: ${JSON.stringify(schema)}`;

/** The messages that request another answer from a model, with the fault of the last one. */
export function requestCorrection(answer: string, fault: string): ModelMessage[] {
  return [
    { role: "assistant", content: answer, toolCalls: [] },
    { role: "user", content: `Your answer is invalid: ${fault}. Answer again with JSON only.` },
  ];
}

/** Whether the last message of a conversation asks for a correction. */
export function asksForCorrection(messages: readonly ModelMessage[]): boolean {
  const answer = messages.at(-2);
  return messages.at(-1)?.role === "user" && answer?.role === "assistant" && answer.toolCalls.length === 0;
}
