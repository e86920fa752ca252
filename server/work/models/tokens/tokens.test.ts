import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { Tiktoken } from "js-tiktoken/lite";
import o200k from "js-tiktoken/ranks/o200k_base";
import { expect, test } from "vitest";
import type { ModelMessage } from "@/server/work/models/port";
import { boundRequestTokens } from "./token-bound";
import { countRequestTokens, countUsage } from "./tokens";

const reference = new Tiktoken(o200k);
const trueTokens = (text: string) => reference.encode(text, [], []).length;

const saying = (content: string) => ({ messages: [{ role: "user" as const, content }], tools: [] });
const countTextTokens = async (text: string) =>
  (await countRequestTokens(saying(text))) - (await countRequestTokens(saying("")));

const PROSE = "The quick brown fox jumps over the lazy dog; it doesn't look back.\n";
const JSON_LINE = JSON.stringify({ id: 1, name: "Ada", tags: ["a", "b"], price: 0.25, nested: { ok: true } });
const SAMPLES: [string, string][] = [
  ["prose", PROSE.repeat(400)],
  ["JSON", JSON_LINE.repeat(100)],
  ["Chinese", "今天天气很好，我们去公园散步吧。人工智能正在改变世界。".repeat(50)],
  ["Russian", "Сегодня очень хорошая погода, пойдём гулять в парк всей семьёй.".repeat(20)],
  ["marks and blanks", "I'LL DON'T we'Ve naïve – ✓ 😀👩‍👩‍👧\t\t  \n \r\n x  y \u00a0 1234567 3.14159"],
  ["code", "if (a?.b !== undefined) {\n\t\treturn [a.b];\n}\n"],
  ["lone surrogates", "\ud800 half a character \udc00"],
];

test.each(SAMPLES)("%s has the vocabulary's own tokens", async (_name, text) => {
  expect(await countTextTokens(text)).toBe(trueTokens(text));
});

test("every short text has the vocabulary's own tokens", async () => {
  const unit = fc.oneof(
    fc.constantFrom(" ", "\n", "the", " of", "'s", "0", "字", "Ä", "!", "{", "\u0301", "😀", "_"),
    fc.string({ unit: "binary", maxLength: 4 }),
  );
  const text = fc.array(unit, { maxLength: 30 }).map((parts) => parts.join(""));
  await fc.assert(
    fc.asyncProperty(text, async (short) => {
      expect(await countTextTokens(short)).toBe(trueTokens(short));
    }),
    { numRuns: 300 },
  );
});

test("special tokens count as text", async () => {
  expect(trueTokens("<|endoftext|>")).toBeGreaterThan(1);
  expect(await countTextTokens("<|endoftext|>")).toBe(trueTokens("<|endoftext|>"));
  expect(await countTextTokens("<|endofprompt|>")).toBe(trueTokens("<|endofprompt|>"));
});

const letters = (length: number) => {
  let seed = 1;
  return Array.from({ length }, () => {
    seed = (seed * 48271) % 2147483647;
    return String.fromCharCode(97 + (seed % 26));
  }).join("");
};

test("a very long piece is cut, at the cost of a few tokens", async () => {
  for (const text of ["a".repeat(2000), letters(2000), "字".repeat(600), "=".repeat(2000)]) {
    const difference = (await countTextTokens(text)) - trueTokens(text);
    expect(difference).toBeGreaterThanOrEqual(0);
    expect(difference).toBeLessThanOrEqual(Buffer.byteLength(text) / 64);
  }
});

test("counts in linear time, and yields to other work", async () => {
  const cpu = async (text: string) => {
    const before = process.cpuUsage();
    await countTextTokens(text);
    return process.cpuUsage(before).user;
  };
  const units = [letters(1024), "A", " ", "\n", "字", "!", "😀", "e\u0301", "'", '{"a":'];
  await cpu(units.join("").repeat(20));
  let turns = 0;
  const turning = setInterval(() => (turns += 1), 1);
  for (const unit of units) {
    const short = unit.repeat(Math.ceil((16 * 1024) / unit.length));
    const [once, often] = [await cpu(short), await cpu(short.repeat(16))];
    // Sixteen times the text; quadratic time would be 256 times as long.
    expect(often, unit.slice(0, 4)).toBeLessThan(64 * Math.max(once, 2_000));
  }
  clearInterval(turning);
  expect(turns).toBeGreaterThan(units.length);
});

test("a request counts its messages, calls and tools, and stays below its bound", async () => {
  const hi: ModelMessage = { role: "user", content: PROSE.repeat(3) };
  const call = { id: "1", name: "weather", arguments: '{"city":"Lisbon"}' };
  const called: ModelMessage = { role: "assistant", content: "I look.", toolCalls: [call] };
  const tool = { name: "f", description: "does f", parameters: { type: "object" } };
  const requests = [
    { messages: [hi], tools: [] },
    { messages: [hi, called], tools: [] },
    { messages: [hi, called], tools: [tool] },
  ];
  const counts = await Promise.all(requests.map(countRequestTokens));
  expect(counts[0]).toBe(3 + 4 + trueTokens(hi.content));
  expect(counts[1]).toBe(
    (counts[0] ?? 0) + 4 + ["I look.", "weather", call.arguments].reduce((n, s) => n + trueTokens(s), 0),
  );
  expect(counts[2]).toBeGreaterThan(counts[1] ?? 0);
  for (const [index, request] of requests.entries()) {
    expect(boundRequestTokens(request)).toBeGreaterThanOrEqual(counts[index] ?? 0);
  }
  expect(
    await countUsage({ messages: [hi], tools: [] }, { content: "I look.", reasoning: "", toolCalls: [call] }),
  ).toEqual({
    inputTokens: counts[0],
    outputTokens: 1 + 4 + ["I look.", "weather", call.arguments].reduce((n, s) => n + trueTokens(s), 0),
    estimated: true,
  });
});

test.each([
  [
    "responses",
    (text: string, json: string, opaque: string) => ({
      items: [
        {
          type: "reasoning",
          id: "rs_1",
          summary: [{ type: "summary_text", text: PROSE }],
          encrypted_content: opaque,
        },
        {
          type: "message",
          content: [
            { type: "output_text", text: text.slice(0, 300) },
            { type: "output_text", text: text.slice(300) },
          ],
        },
        { type: "function_call", call_id: "a", name: "look", arguments: json },
      ],
    }),
  ],
  [
    "anthropic",
    (text: string, json: string, opaque: string) => ({
      blocks: [
        { type: "thinking", thinking: PROSE, signature: opaque },
        { type: "text", text },
        { type: "tool_use", id: "a", name: "look", input: JSON.parse(json) },
      ],
    }),
  ],
  [
    "chat",
    (_text: string, _json: string, opaque: string) => ({
      message: { reasoning_content: PROSE },
      calls: [{ extra_content: { google: { thought_signature: opaque } } }],
    }),
  ],
])("a state counts what it adds to the message: %s", async (_name, stateOf) => {
  const opaque = randomBytes(3_000).toString("base64");
  const json = JSON.stringify({ at: PROSE.repeat(5) });
  const content = PROSE.repeat(10);
  const message: ModelMessage = {
    role: "assistant",
    content,
    toolCalls: [{ id: "a", name: "look", arguments: json }],
  };
  const state = JSON.stringify({ origin: "x", ...stateOf(content, json, opaque) });
  const [plain, full] = [message, { ...message, state }].map((each) => ({ messages: [each], tools: [] }));
  if (plain === undefined || full === undefined) throw new Error("no requests");
  const added = (await countRequestTokens(full)) - (await countRequestTokens(plain));
  expect(added).toBe(1_000 + trueTokens(PROSE));
  expect(boundRequestTokens(full) - boundRequestTokens(plain)).toBeGreaterThanOrEqual(added);
});

test("withheld tools count as offered ones", async () => {
  const messages: ModelMessage[] = [{ role: "user", content: "hi" }];
  const tools = [{ name: "f", description: PROSE, parameters: { type: "object" } }];
  const withheld = { messages, tools: [], withheldTools: tools };
  expect(await countRequestTokens(withheld)).toBe(await countRequestTokens({ messages, tools }));
  expect(boundRequestTokens(withheld)).toBe(boundRequestTokens({ messages, tools }));
});

test("output of megabytes is estimated from its beginning", async () => {
  const words = "many words ";
  const usageOf = (content: string) =>
    countUsage({ messages: [], tools: [] }, { content, reasoning: "", toolCalls: [] });
  const short = await usageOf(words.repeat(1_000));
  const long = await usageOf(words.repeat(400_000));
  expect(long.outputTokens / short.outputTokens).toBeCloseTo(400, -1);
});
