import { createHash } from "node:crypto";
import { isJsonObject, tryParseJson } from "@/server/base/json/json";
import { perOwner } from "@/server/base/per-owner";
import type { ModelMessage, ModelRequest } from "@/server/work/models/port";
import { ReplyError, ResponseError, statedText } from "./replies";

/**
 * A provider may no longer verify the state that it gave with a reply, or no longer find it: after a change of its
 * keys or accounts, or behind a gateway. Such states are left out from then on.
 */

const LOST = [
  // OpenAI: openai/codex#8100, with its code or without; vercel/ai#7543, maximhq/bifrost#6465.
  /invalid_encrypted_content|encrypted content\b.{0,200}could not be (?:verified|decrypted)/i,
  /items are not persisted|reasoning item\b.{0,200}not found or has expired/i,
  // Anthropic: anthropics/anthropic-sdk-python#1598.
  /invalid [`'"]?(?:signature|data)[`'"]? in [`'"]?(?:redacted_)?thinking/i,
  // Gemini: iOfficeAI/gemini-cli-pro#18.
  /corrupted thought signature|thought signature is (?:not valid|invalid)/i,
];
const MAX_LOST = 1_000;

export function isLostState(error: unknown): boolean {
  if (!(error instanceof ResponseError || error instanceof ReplyError)) return false;
  const text = `${error.code ?? ""} ${statedText(error)}`;
  return LOST.some((pattern) => pattern.test(text));
}

const hashOf = perOwner((message: ModelMessage) =>
  message.role === "assistant" && message.state
    ? createHash("sha256").update(message.state).digest("base64url")
    : null,
);

const originOf = perOwner((message: ModelMessage): unknown => {
  const state = message.role === "assistant" && message.state ? tryParseJson(message.state) : null;
  return isJsonObject(state) ? state.origin : null;
});
const isFrom = (message: ModelMessage, origin: string) => originOf(message) === origin;

/** The known lost states and those that the messages bring back to `origin`. */
export function addLostStates(
  known: readonly string[],
  messages: readonly ModelMessage[],
  origin: string,
): readonly string[] {
  const sent = new Set(messages.filter((each) => isFrom(each, origin)).flatMap((each) => hashOf(each) ?? []));
  if ([...sent].every((hash) => known.includes(hash))) return known;
  // All of the request stay, or its next repeat would teach the same.
  return [...known.filter((hash) => !sent.has(hash)), ...sent].slice(-Math.max(MAX_LOST, sent.size));
}

const isLost = (message: ModelMessage, lost: readonly string[]) => lost.includes(hashOf(message) ?? "");

export const hasLostStates = (messages: readonly ModelMessage[], lost: readonly string[]): boolean =>
  lost.length > 0 && messages.some((message) => isLost(message, lost));

// The same object each time, for which the tokens are known.
const withoutState = perOwner(
  (message: ModelMessage): ModelMessage =>
    message.role === "assistant" ? { ...message, state: null } : message,
);

/** The messages with the states that go back to `origin`. */
export const withSentStates = (
  messages: readonly ModelMessage[],
  { lost, origin }: { lost: readonly string[]; origin: string },
): ModelMessage[] =>
  messages.map((message) => {
    if (message.role !== "assistant" || !message.state) return message;
    return isFrom(message, origin) && !isLost(message, lost) ? message : withoutState(message);
  });

/** The request as it is sent: without lost states. */
export function withoutLostStates<Request extends Pick<ModelRequest, "messages">>(
  request: Request,
  lost: readonly string[],
): Request {
  if (!hasLostStates(request.messages, lost)) return request;
  const messages = request.messages.map((message) =>
    isLost(message, lost) ? { ...message, state: null } : message,
  );
  return { ...request, messages };
}
