import { z } from "zod";
import { isJsonObject, type JsonObject, setMember, tryParseMarked, writeJson } from "@/server/base/json/json";
import { perOwner } from "@/server/base/per-owner";
import { isLongId, shortenId } from "@/server/work/models/calls/sent-calls";
import { MAX_STATE_BYTES, type ModelMessage, type ProviderState } from "@/server/work/models/port";
import { isMoreThanText } from "./content-parts";
import { splitThinking } from "./thinking";

/**
 * Unknown fields, such as Gemini's `extra_content`, OpenRouter's `reasoning_details` and Mistral's reasoning, go
 * back to the server in the next request.
 */

const fields = z.looseObject({});
const chatState = z.object({
  /** Provider, address and model. */
  origin: z.string(),
  message: fields,
  /** One entry for each call; null if it has no such fields. */
  calls: z.array(fields.nullable()),
  /** Long ids of calls by those in the messages. */
  ids: z.record(z.string(), z.string()).optional(),
  /** The reasoning at the beginning of the content, with its marks, for models that want it back. */
  thinking: z.string().optional(),
});
type ChatState = z.infer<typeof chatState>;
type Fields = z.infer<typeof fields>;

const NO_FIELDS: Omit<ChatState, "origin"> = { message: {}, calls: [] };

/** Fields that are read here or never sent back: OpenAI rejects its own `annotations` and `audio`. */
export const MESSAGE_FIELDS = new Set([
  ..."role content refusal tool_calls function_call annotations audio".split(" "),
]);
export const CALL_FIELDS = new Set(["index", "id", "type", "function"]);
export const FUNCTION_FIELDS = new Set(["name", "arguments"]);

function unknownFields(value: unknown, known: ReadonlySet<string>): JsonObject | null {
  if (!isJsonObject(value)) return null;
  let found: JsonObject | null = null;
  for (const name of Object.keys(value)) {
    const field = value[name];
    if (known.has(name) || field === null || field === undefined) continue;
    found ??= {};
    setMember(found, name, field);
  }
  return found;
}

function unknownFieldsOfCall(call: unknown): Fields | null {
  const own = unknownFields(call, CALL_FIELDS);
  const inner = unknownFields(isJsonObject(call) ? call.function : null, FUNCTION_FIELDS);
  return inner === null ? own : { ...own, function: inner };
}

// MiniMax wants all of it (https://platform.minimax.io/docs/api-reference/text-openai-api). The chat templates of
// others, such as Qwen's and DeepSeek R1's, remove it: it must not come back.
const WANTS_THINKING = /minimax/i;

function thinkingOf(message: unknown, origin: string): string {
  const text = isJsonObject(message) && WANTS_THINKING.test(origin) ? message.content : null;
  return typeof text === "string" ? text.slice(0, text.length - splitThinking(text).content.length) : "";
}

function longIdsOf(calls: readonly unknown[]): Record<string, string> | null {
  const long = calls.flatMap((call) => (isJsonObject(call) && isLongId(call.id) ? [call.id] : []));
  return long.length === 0 ? null : Object.fromEntries(long.map((id) => [shortenId(id), id]));
}

/** The state in a message with these calls; null if it has no unknown fields or long ids, or too large ones. */
export function readChatState(
  message: unknown,
  calls: readonly unknown[],
  origin: string,
): ProviderState | null {
  let ofMessage = unknownFields(message, MESSAGE_FIELDS);
  if (isJsonObject(message) && isMoreThanText(message.content))
    ofMessage = { ...ofMessage, content: message.content };
  const ofCalls = calls.map(unknownFieldsOfCall);
  const thinking = thinkingOf(message, origin);
  const ids = longIdsOf(calls);
  if (ofMessage === null && ofCalls.every((each) => each === null) && thinking === "" && ids === null)
    return null;
  const state: ChatState = {
    origin,
    message: ofMessage ?? {},
    calls: ofCalls,
    ...(ids && { ids }),
    ...(thinking !== "" && { thinking }),
  };
  try {
    const text = writeJson(state);
    return Buffer.byteLength(text) > MAX_STATE_BYTES ? null : text;
  } catch {
    // It nests too deeply.
    return null;
  }
}

const parseState = perOwner((message: ModelMessage): ChatState | null => {
  if (message.role !== "assistant" || !message.state) return null;
  return chatState.safeParse(tryParseMarked(message.state)).data ?? null;
});

/** The fields that a message had when it came from `origin`, without unwanted ones; none if it came from elsewhere. */
export function openChatState(
  message: ModelMessage,
  { origin, unwanted }: { origin: string; unwanted: readonly string[] },
): Omit<ChatState, "origin"> {
  const state = parseState(message);
  if (state === null || state.origin !== origin) return NO_FIELDS;
  if (unwanted.length === 0) return state;
  const without = (given: Fields) =>
    Object.fromEntries(Object.entries(given).filter(([name]) => !unwanted.includes(name)));
  return {
    ...state,
    message: without(state.message),
    calls: state.calls.map((call) => call && without(call)),
  };
}

/** The names of all fields that messages of this origin bring back. */
export function namesOfState(messages: readonly ModelMessage[], origin: string): string[] {
  const names = messages.flatMap((message) => {
    const { message: own, calls } = openChatState(message, { origin, unwanted: [] });
    return [...Object.keys(own), ...calls.flatMap((call) => Object.keys(call ?? {}))];
  });
  return [...new Set(names)].filter((name) => name !== "function");
}
