import { expect, it } from "vitest";
import { toChatCompletion } from "@/server/work/models/chat/chat-request";
import type { ModelMessage } from "@/server/work/models/port";
import { UNKNOWN_SERVER } from "../errors/adaptation";
import { boundBodyLength } from "./body-length";

it.each([
  ["plain text", "x".repeat(10_000)],
  ["quotes", '"'.repeat(10_000)],
  ["line breaks", "\n".repeat(10_000)],
  ["form feeds", "\f".repeat(10_000)],
  ["control characters at the end", `${"x".repeat(10)}${"\u0001".repeat(10_000)}`],
  ["lone surrogates", "\ud800".repeat(10_000)],
  ["emoji", "🙂".repeat(10_000)],
])("bounds the length of %s in a request's body", (_what, text) => {
  const messages: ModelMessage[] = [
    { role: "system", content: text },
    { role: "user", content: text },
    {
      role: "assistant",
      content: text,
      toolCalls: [{ id: "1", name: "a", arguments: JSON.stringify(text) }],
    },
    { role: "tool", toolCallId: "1", content: text },
  ];
  const body = JSON.stringify(
    toChatCompletion({ model: "m", messages, tools: [], maxOutputTokens: 1 }, UNKNOWN_SERVER),
  );
  expect(boundBodyLength(messages) + 500).toBeGreaterThan(body.length);
  expect(boundBodyLength(messages)).toBeLessThan(7 * body.length);
});

it("counts a long text with an emoji like one without", () => {
  const lengthOf = (content: string) => boundBodyLength([{ role: "user", content }]);
  expect(lengthOf(`🙂${"x".repeat(10_000)}`)).toBe(lengthOf("x".repeat(10_002)));
});
