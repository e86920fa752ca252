import { type Json, type JsonObject, tryParseJson, writeJson } from "@/server/base/json/json";
import { parseLargeJson } from "@/server/base/json/large";
import { JsonTextError } from "@/server/base/json/text";
import { cleanLargeJson } from "@/server/guard/secrets/stored-output";
import { validateAgainst } from "@/server/work/json-schema/schema";
import { describeIssues } from "@/server/work/json-schema/schema-issues";
import { readFenced, repairLooseJson } from "@/server/work/models/calls/loose-json";
import { escapeControls } from "@/server/work/models/calls/raw-controls";
import type { ModelMessage, ProviderState } from "@/server/work/models/port";

// Issues name keys of the answer, which may be long.
const MAX_ISSUE_LENGTH = 2_000;

type ReadAnswer = { value: Json } | { issue: string };

/** The value of a model's answer that must match a schema, or the answer's issue. Models like to add a fence. */
export async function readJsonAnswer(
  content: string,
  schema: JsonObject,
  organizationId: string,
): Promise<ReadAnswer> {
  let value: Json;
  try {
    value = await cleanLargeJson(await parseLargeJson(readFenced(content) ?? content));
  } catch {
    return readEmbedded(content, schema, organizationId);
  }
  return checkValue(value, schema, organizationId);
}

// Longer answers must be JSON alone.
const MAX_SEARCHED_LENGTH = 256 * 1024;
const MAX_ATTEMPTS = 16;

// Models explain their answers (langchain-ai/langchain#33126).
async function readEmbedded(
  content: string,
  schema: JsonObject,
  organizationId: string,
): Promise<ReadAnswer> {
  let issue = "it is not JSON";
  for (const [index, text] of findEmbedded(content).entries()) {
    const found = await readFound(text, schema, organizationId);
    if ("value" in found) return found;
    if (index === 0) issue = found.issue;
  }
  return { issue };
}

async function readFound(text: string, schema: JsonObject, organizationId: string): Promise<ReadAnswer> {
  let value: Json;
  try {
    value = await cleanLargeJson(await parseLargeJson(text));
  } catch (error) {
    // JSON beyond a limit: the model can answer with other JSON.
    if (!(error instanceof JsonTextError)) throw error;
    return { issue: error.message.replace(/\.$/, "") };
  }
  return checkValue(value, schema, organizationId);
}

async function checkValue(value: Json, schema: JsonObject, organizationId: string): Promise<ReadAnswer> {
  const issues = await validateAgainst(schema, value, organizationId);
  return issues.length === 0 ? { value } : { issue: describeIssues(issues).slice(0, MAX_ISSUE_LENGTH) };
}

function findEmbedded(content: string): string[] {
  if (content.length > MAX_SEARCHED_LENGTH) return [];
  const found: string[] = [];
  const opening = /[{[]/g;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const start = opening.exec(content)?.index;
    if (start === undefined) break;
    const text = content.slice(start, endOfJson(content, start));
    const readable = [text, escapeControls(text), repairLooseJson(text)].find(
      (each) => each !== null && tryParseJson(each) !== undefined,
    );
    if (!readable) continue;
    found.push(readable);
    opening.lastIndex = start + text.length;
  }
  return found.sort((a, b) => b.length - a.length);
}

function endOfJson(text: string, start: number): number {
  let depth = 0;
  let isInString = false;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (isInString) {
      if (character === "\\") at += 1;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return text.length;
}

/** The sentence that describes the schema of the answer to a model, where the provider does not enforce it. */
export const describeSchema = (schema: JsonObject): string =>
  `Your final answer must be only JSON, without other text, that matches this JSON Schema: ${writeJson(schema)}`;

/** The messages that request another answer from a model, with the issue of the last one. */
export function requestCorrection(
  { content, state = null }: { content: string; state?: ProviderState | null },
  issue: string,
): ModelMessage[] {
  return [
    { role: "assistant", content, state, toolCalls: [] },
    { role: "user", content: `Your answer is invalid: ${issue}. Answer again with JSON only.` },
  ];
}

export function asksForCorrection(messages: readonly ModelMessage[]): boolean {
  const answer = messages.at(-2);
  return messages.at(-1)?.role === "user" && answer?.role === "assistant" && answer.toolCalls.length === 0;
}
