import type { ModelMessage } from "@/server/work/models/port";

// JSON writes such a character as six. With the flag "u", only surrogates without their pair match.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is searched.
const CONTROL = /[\0-\x07\x0b\x0e-\x1f\ud800-\udfff]/u;
const LONGEST_ESCAPE = 6;
const USUAL_ESCAPE = 2;

/** The most characters that a conversation has in a request's body, roughly: its tools and settings are not counted. */
export function boundBodyLength(messages: readonly ModelMessage[]): number {
  let length = 0;
  for (const message of messages) {
    length += boundLength(message.content);
    if (message.role !== "assistant") continue;
    length += boundLength(message.state ?? "");
    for (const call of message.toolCalls) length += boundLength(call.arguments);
  }
  return length;
}

// Short texts are not searched: they count only together.
const boundLength = (text: string) =>
  text.length * (text.length < 1_000 || !CONTROL.test(text) ? USUAL_ESCAPE : LONGEST_ESCAPE);
