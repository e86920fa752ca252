import fc from "fast-check";
import { expect, test } from "vitest";
import { boundRequestTokens } from "./token-bound";
import { countRequestTokens } from "./tokens";

const saying = (content: string) => ({ messages: [{ role: "user" as const, content }], tools: [] });
const boundTextTokens = (text: string) => boundRequestTokens(saying(text)) - boundRequestTokens(saying(""));

// Counts with the o200k vocabulary, precomputed.
test.each([
  ["The quick brown fox jumps over the lazy dog. ".repeat(10), 101],
  ["今天天气很好，我们去公园散步吧。人工智能正在改变世界，许多公司都在投资。", 25],
  ["Сегодня очень хорошая погода, пойдём гулять в парк всей семьёй.", 18],
  ['<div class="a-b c"><p>Hello &amp; welcome</p></div>', 18],
])("%s counts at least its true tokens", (text, actual) => {
  expect(boundTextTokens(text)).toBeGreaterThanOrEqual(actual - 1);
  expect(boundTextTokens(text)).toBeLessThanOrEqual(actual * 4);
});

test("counts are integers, never negative, and grow with the text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (a, b) => {
      const tokens = boundTextTokens(a);
      expect(Number.isInteger(tokens)).toBe(true);
      expect(boundTextTokens(`${a}\n.\n${b}`)).toBeGreaterThanOrEqual(tokens);
    }),
  );
});

test("a mebibyte of any text is counted quickly", () => {
  const started = performance.now();
  for (const unit of ["a", " ", "7", "{", "字", "aB1 "]) boundTextTokens(unit.repeat(1024 * 1024));
  expect(performance.now() - started).toBeLessThan(30_000);
});

test("a request bounds its messages, calls and tools", () => {
  const bare = boundRequestTokens({ messages: [{ role: "user", content: "hi" }], tools: [] });
  const called = boundRequestTokens({
    messages: [
      { role: "user", content: "hi" },
      {
        role: "assistant",
        content: "",
        toolCalls: [{ id: "1", name: "f", arguments: '{"a":"some words here"}' }],
      },
    ],
    tools: [],
  });
  const offered = boundRequestTokens({
    messages: [{ role: "user", content: "hi" }],
    tools: [{ name: "f", description: "does f", parameters: { type: "object" } }],
  });
  expect(called).toBeGreaterThan(bare + 10);
  expect(offered).toBeGreaterThan(bare + 10);
});

test("the schema of an answer counts as input, and its bound is not below its count", async () => {
  const properties = { topic: { enum: ["billing", "delivery"] }, urgent: { type: "boolean" } };
  const request = { messages: [], tools: [] };
  const asked = { ...request, responseSchema: { type: "object", properties, required: ["topic"] } };
  const counted = (await countRequestTokens(asked)) - (await countRequestTokens(request));
  expect(counted).toBeGreaterThan(20);
  expect(boundRequestTokens(asked) - boundRequestTokens(request)).toBeGreaterThanOrEqual(counted);
});
