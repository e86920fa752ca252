import { isJsonObject, tryParseJson, writeJson } from "@/server/base/json/json";
import type { Redact } from "@/server/guard/secrets/redact";
import { replaceNul } from "@/server/guard/secrets/stored-output";
import {
  limitCalls,
  MAX_RECORDED_CALLS,
  type ModelRequest,
  type ToolCall,
  UNREADABLE_CALL,
} from "@/server/work/models/port";
import { ReplyError } from "../errors/replies";
import { escapeControls } from "./raw-controls";
import { shortenId } from "./sent-calls";

/** The most characters of names that providers give. */
export const MAX_NAME_LENGTH = 200;
const MAX_UNREADABLE_LENGTH = 2_000;

/** A call as a provider sent it, or what is wrong with an `entry` that is none. */
export type GivenCall = { id?: string | null | undefined } & (
  | { name: string; arguments: unknown }
  | { problem: string; entry: unknown }
);

/**
 * Reads the calls of a reply and gives each an id that is unique in the conversation. An unreadable call becomes a
 * failed step. Throws ReplyError. @param options.furtherCalls The number of calls that were removed.
 */
export function readCalls(
  given: readonly GivenCall[],
  request: Pick<ModelRequest, "messages">,
  { furtherCalls, redact }: { furtherCalls: number; redact: Redact },
): ToolCall[] {
  const taken = new Set(
    request.messages.flatMap((m) => (m.role === "assistant" ? m.toolCalls.map((c) => c.id) : [])),
  );
  const read = given.slice(0, MAX_RECORDED_CALLS).map((call) => {
    let id = shortenId(redact(call.id ?? ""));
    for (let number = taken.size + 1; id === "" || taken.has(id); number += 1) id = `call_${number}`;
    taken.add(id);
    if ("problem" in call) return { id, ...unreadableCall(call, redact) };
    const name = withoutTokens(replaceNul(redact(call.name))).slice(0, MAX_NAME_LENGTH);
    return { id, name, arguments: argumentsText(call.arguments) };
  });
  return limitCalls(read, furtherCalls + Math.max(0, given.length - MAX_RECORDED_CALLS));
}

// Servers of gpt-oss leave special tokens behind the name (vllm-project/vllm#32587).
function withoutTokens(name: string): string {
  const [own = ""] = name.split("<|", 1);
  return own.trim() || name;
}

function unreadableCall(
  { problem, entry }: { problem: string; entry: unknown },
  redact: Redact,
): Omit<ToolCall, "id"> {
  const text = replaceNul(redact(argumentsText(entry))).slice(0, MAX_UNREADABLE_LENGTH);
  return { name: UNREADABLE_CALL, arguments: writeJson({ problem, call: text }) };
}

function argumentsText(value: unknown): string {
  if (typeof value === "string") return repairArguments(replaceNul(value));
  if (value === undefined || value === null) return "";
  try {
    return replaceNul(writeJson(value));
  } catch {
    throw new ReplyError("the arguments of a call are nested too deeply");
  }
}

// Repairs only `{}{…}` (openai/openai-agents-js#712), JSON within a JSON string (vllm-project/vllm#54964), an
// object after its own beginning or twice (vllm-project/vllm#51697), and line ends in strings.
function repairArguments(text: string): string {
  const isObject = (each: string) => isJsonObject(tryParseJson(each));
  if (/[\n\r\t]/.test(text) && !isObject(text)) {
    const escaped = escapeControls(text);
    if (isObject(escaped)) return escaped;
  }
  const behind = /^\s*\{\s*\}\s*(?=\{)/.exec(text)?.[0];
  if (behind !== undefined) return isObject(text.slice(behind.length)) ? text.slice(behind.length) : text;
  if (text.startsWith("{{") && isObject(text.slice(1))) return text.slice(1);
  const half = text.slice(0, text.length / 2);
  if (half + half === text && isObject(half)) return half;
  if (!/^\s*"/.test(text)) return text;
  const inner = tryParseJson(text);
  return typeof inner === "string" && isObject(inner) ? inner : text;
}
