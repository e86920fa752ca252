import { afterAll, expect, test } from "vitest";
import type { ModelApi } from "@/server/base/models/model-api";
import { createTrustedEgress } from "@/server/guard/egress/trusted-fetch";
import { createProvider } from "@/server/work/models/provider";
import { testClock } from "@/testing/clock";
import { callBlock, startStrictMessages, thinkingBlock } from "@/testing/servers/families/strict-messages";
import {
  callItem,
  messageItem,
  reasoningItem,
  startStrictResponses,
} from "@/testing/servers/families/strict-responses";
import { startModelServer } from "@/testing/servers/model-server";
import { testAbilities } from "./test-abilities";

const egress = createTrustedEgress();
const chat = await startModelServer();
const INPUT = { a: 1234, b: 4321 };
const ANSWER = { word: "ready", sum: 5555 };
const responses = await startStrictResponses((turn) => ({
  items:
    turn === 0
      ? [reasoningItem("I have to add."), callItem("add", INPUT)]
      : [messageItem(JSON.stringify(ANSWER))],
}));
const messages = await startStrictMessages((turn) => ({
  blocks:
    turn === 0
      ? [thinkingBlock("I have to add."), callBlock("add", INPUT)]
      : [callBlock("final_answer", ANSWER)],
}));
afterAll(async () => {
  await egress.close();
  await Promise.all([chat, responses, messages].map((server) => server.close()));
});

async function run(baseUrl: string, { api = "chat", model = "m" }: { api?: ModelApi; model?: string } = {}) {
  const clock = testClock();
  const { call } = createProvider({
    name: "test",
    api,
    apiKey: "sk-test",
    baseUrl,
    fetch: egress.fetch,
    clock,
    random: () => 1,
    sleep: async (ms) => void clock.advance(ms),
    maxAttempts: 1,
  });
  const tested = await testAbilities({ model, organizationId: "org-1" }, call);
  return { ...tested, works: Object.fromEntries(tested.abilities.map(({ name, works }) => [name, works])) };
}

const ALL = {
  Text: true,
  Streaming: true,
  "Function calls": true,
  "Structured answers": true,
  Reasoning: true,
  Usage: true,
};

test.each([
  ["responses", responses],
  ["anthropic", messages],
] as const)("all works over %s", async (api, server) => {
  const tested = await run(server.url, { api });
  expect(server.rejected).toEqual([]);
  expect(tested.works).toEqual(ALL);
  expect(JSON.parse(tested.text)).toEqual(ANSWER);
});

test("all but reasoning works over chat", async () => {
  chat.script(
    "1234 plus 4321",
    { calls: [{ name: "add", arguments: INPUT }] },
    { content: JSON.stringify(ANSWER) },
  );
  const tested = await run(chat.url);
  expect(tested.works).toEqual({ ...ALL, Reasoning: false });
  expect(tested.usage).toMatchObject({ inputTokens: 20, outputTokens: 10 });
});

test("what does not work is said", async () => {
  chat.script("1234 plus 4321", { content: "It is 5555.", usage: null }, [
    { status: 400, message: "response_format is not supported" },
    { content: "It is still 5555.", usage: null },
  ]);
  const { works, abilities, text } = await run(chat.url, { model: "plain" });
  expect(text).toBe("It is 5555.");
  expect(works).toEqual({
    Text: true,
    // Without usage in a stream, answers are requested in one piece.
    Streaming: false,
    "Function calls": false,
    "Structured answers": false,
    Reasoning: false,
    Usage: false,
  });
  expect(abilities.map(({ note }) => note).join("\n")).toMatch(
    /did not call the function[\s\S]*it is not JSON/,
  );
});

test("a result that is not accepted is told with the provider's words", async () => {
  chat.script(
    "1234 plus 4321",
    { calls: [{ name: "add", arguments: INPUT }] },
    { status: 400, message: "No." },
  );
  const { works, abilities } = await run(chat.url, { model: "strict" });
  expect(works).toMatchObject({ Text: false, "Function calls": false, "Structured answers": false });
  expect(abilities.find(({ name }) => name === "Function calls")?.note).toContain("answered 400 No.");
});

test("a provider that does not answer is an error", async () => {
  chat.script("1234 plus 4321", { status: 401, message: "Wrong key" });
  await expect(run(chat.url)).rejects.toMatchObject({ reason: "unauthorized" });
});
