import { z } from "zod";
import { memberOf } from "@/server/base/json/json";
import { replaceNul } from "@/server/guard/secrets/stored-output";
import type { ReadOptions } from "@/server/work/models/calls/model-interface";
import { type GivenCall, MAX_NAME_LENGTH, readCalls } from "@/server/work/models/calls/read-calls";
import { usageText } from "@/server/work/models/calls/reported-usage";
import {
  failedChoice,
  type ReadReply,
  readReportedError,
  unreadable,
} from "@/server/work/models/errors/replies";
import { MAX_RECORDED_CALLS, type ModelRequest } from "@/server/work/models/port";
import { callsInText } from "./calls-in-text";
import { readChatState } from "./chat-state";
import { readUsage } from "./chat-usage";
import { readContent } from "./content-parts";
import { splitThinking } from "./thinking";

const wireCall = z.object({
  id: z.string().nullish().catch(null),
  function: z.object({ name: z.string().min(1), arguments: z.unknown().optional() }),
});
// Other fields are kept as they come (readChatState).
const wireMessage = z.looseObject({
  content: z.union([z.string(), z.array(z.unknown())]).nullish(),
  refusal: z.string().nullish(),
  tool_calls: z.array(z.unknown()).nullish(),
  function_call: z.object({ name: z.string(), arguments: z.unknown().optional() }).nullish(),
});
const wireChoice = z.object({
  // Null if the answer was filtered (affaan-m/ECC#1976).
  message: wireMessage.nullish(),
  text: z.unknown().optional(),
  delta: z.unknown().optional(),
  finish_reason: z.string().nullish(),
  native_finish_reason: z.string().nullish().catch(null),
  error: z.unknown().optional(),
});
const completion = z.object({
  choices: z.tuple([wireChoice], z.unknown()),
  usage: z.unknown().optional(),
});

// A gateway's answer if the model gave none (BerriAI/litellm#40252).
function withChoice(body: unknown): unknown {
  const choices = memberOf(body, "choices");
  if (choices !== null && !(Array.isArray(choices) && choices.length === 0)) return body;
  const usage = memberOf(body, "usage");
  return readUsage(usage) === null ? body : { choices: [{}], usage };
}

/** Returns true for a choice without a message, such as that of a filtered answer. */
function isEmptyChoice({ text, delta, finish_reason }: z.infer<typeof wireChoice>, usage: unknown): boolean {
  return (text ?? delta ?? null) === null && (Boolean(finish_reason) || readUsage(usage) !== null);
}

function givenCalls(message: z.infer<typeof wireMessage>): { raw: unknown[]; further: number } {
  const raw = [...(message.tool_calls ?? [])];
  // llama-cpp-python repeats the first call in the old form, with a wrong name.
  if (message.function_call && raw.length === 0) raw.push({ function: message.function_call });
  return { raw: raw.slice(0, MAX_RECORDED_CALLS), further: Math.max(0, raw.length - MAX_RECORDED_CALLS) };
}

function toGivenCall(entry: unknown): GivenCall {
  const parsed = wireCall.safeParse(entry);
  if (parsed.success) {
    const { id, function: called } = parsed.data;
    return { id, name: called.name, arguments: called.arguments };
  }
  const hasFunction = z.object({ function: z.looseObject({}) }).safeParse(entry).success;
  return { problem: hasFunction ? "it has no name" : "it has no function", entry };
}

/** The reasoning in a message's fields, as named by DeepSeek and vLLM, or by OpenRouter. */
export function readReasoning(textOf: (name: string) => unknown): string {
  const names = ["reasoning_content", "reasoning"];
  return names.map(textOf).find((text): text is string => typeof text === "string" && text !== "") ?? "";
}

/** Parses a provider's untrusted response. Throws ReplyError. */
export function readChatCompletion(
  body: unknown,
  request: Pick<ModelRequest, "messages"> & Partial<Pick<ModelRequest, "tools" | "responseSchema">>,
  { furtherCalls = 0, origin, redact = (text) => text }: ReadOptions,
): ReadReply {
  const parsed = completion.safeParse(withChoice(body));
  if (!parsed.success) throw unreadable(body, "a chat completion");
  const [choice] = parsed.data.choices;
  const { finish_reason: finishReason, native_finish_reason: nativeReason } = choice;
  const message = choice.message ?? {};
  const isEmpty = () => readReportedError(body) === null && isEmptyChoice(choice, parsed.data.usage);
  if (!choice.message && !isEmpty()) throw unreadable(body, "a chat completion");
  if (finishReason === "error") throw failedChoice(choice);
  const given = readContent(message.content);
  const { content, reasoning } = splitThinking(given.content);
  const { raw, further } = givenCalls(message);
  const inText = raw.length === 0 ? callsInText(content, request) : [];
  const calls = inText.length > 0 ? inText : raw.map(toGivenCall);
  return {
    content: inText.length > 0 ? "" : replaceNul(content),
    refusal: message.refusal ?? "",
    toolCalls: readCalls(calls, request, { furtherCalls: furtherCalls + further, redact }),
    finishReason: finishReason ? redact(finishReason).slice(0, MAX_NAME_LENGTH) : null,
    nativeReason: redact(nativeReason ?? "").slice(0, MAX_NAME_LENGTH),
    reasoning: readReasoning((name) => message[name]) + given.reasoning + reasoning,
    state: readChatState(message, raw, origin),
    usage: readUsage(parsed.data.usage),
    usageText: usageText(parsed.data.usage),
  };
}
