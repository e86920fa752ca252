import { afterAll, expect, test } from "vitest";
import type { ModelApi } from "@/server/base/models/model-api";
import { createTrustedEgress } from "@/server/guard/egress/trusted-fetch";
import { inputSchemaOf, listFunctions } from "@/server/work/functions/core/registry";
import type { OfferedTool } from "@/server/work/models/port";
import { createProvider } from "@/server/work/models/provider";
import { testClock } from "@/testing/clock";
import { startChatServer } from "@/testing/servers/families/chat-server";
import { openaiChat } from "@/testing/servers/families/openai-chat";
import { startStrictMessages, textBlock } from "@/testing/servers/families/strict-messages";
import { messageItem, startStrictResponses } from "@/testing/servers/families/strict-responses";
import { modelRequest } from "@/testing/servers/model-server";

/** Schemas of tools that providers rejected, and those of all functions, at servers that are as strict. */

const egress = createTrustedEgress();
const openai = await startChatServer(openaiChat);
const responses = await startStrictResponses(() => ({ items: [messageItem("1")] }));
const messages = await startStrictMessages(() => ({ blocks: [textBlock("1")] }));
afterAll(async () => {
  await egress.close();
  for (const { close } of [openai, responses, messages]) await close();
});

function call({ url }: { url: string }, tools: OfferedTool[], api?: ModelApi) {
  const clock = testClock();
  const provider = createProvider({
    name: "test",
    api,
    apiKey: "key",
    baseUrl: url,
    fetch: egress.fetch,
    clock,
    random: () => 1,
    sleep: async (ms) => void clock.advance(ms),
  });
  return provider.call(modelRequest("Add.", { tools }));
}
const toolWith = (properties: OfferedTool["parameters"]): OfferedTool => ({
  name: "calculate",
  description: "Calculates.",
  parameters: { type: "object", properties },
});
const FUNCTIONS = listFunctions().map((definition) => ({
  name: definition.name,
  description: definition.description,
  parameters: inputSchemaOf(definition),
}));

// modelscope/ms-agent#610, mark3labs/mcphost#35, langchain-ai/langchain#24225, AnswerDotAI/fastcore#798,
// NousResearch/hermes-agent#20976
const ARRAYS = {
  objects: { type: "array" },
  maybe: { type: ["array", "null"], description: "Perhaps." },
  either: { anyOf: [{ type: "array", minItems: 1 }, { type: "string" }] },
  range: { type: "array", prefixItems: [{ type: "integer" }, { type: "string" }] },
  old: { type: "array", items: [{ type: "integer" }, { type: "string" }] },
  deep: { type: "array", items: { type: "array" } },
};

test("OpenAI takes arrays without items", async () => {
  expect((await call(openai, [toolWith(ARRAYS)])).toolCalls).toHaveLength(2);
  const [tool] = openai.bodies.at(-1)?.tools ?? [];
  const any = { anyOf: expect.arrayContaining([{ type: "string" }]) };
  const pair = [{ type: "integer" }, { type: "string" }];
  expect(tool?.function.parameters.properties).toEqual({
    objects: { type: "array", items: any },
    maybe: { description: "Perhaps.", anyOf: [{ type: "array", items: any }, { type: "null" }] },
    either: { anyOf: [{ type: "array", minItems: 1, items: any }, { type: "string" }] },
    range: { type: "array", prefixItems: pair, items: { anyOf: pair } },
    old: { type: "array", prefixItems: pair, items: { anyOf: pair } },
    deep: { type: "array", items: { type: "array", items: any } },
  });
});

// mobile-next/mobile-mcp#344, dearlordylord/huly-mcp#66, anthropics/claude-code#5319
test.each<[string, object, object]>([
  [
    "that demand one of two properties",
    {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" }, c: { type: "string" } },
      required: ["c"],
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
      not: { required: ["a", "b"] },
    },
    { properties: { a: { type: "string" }, b: { type: "string" }, c: { type: "string" } }, required: ["c"] },
  ],
  [
    "of several forms",
    {
      oneOf: [
        {
          type: "object",
          properties: { kind: { const: "id" }, id: { type: "integer" } },
          required: ["kind", "id"],
        },
        { $ref: "#/$defs/Named" },
        { type: "null" },
      ],
      $defs: { Named: { type: "object", properties: { kind: { const: "name" } }, required: ["kind"] } },
    },
    {
      properties: {
        kind: { anyOf: [{ const: "id" }, { const: "name" }] },
        id: { type: "integer" },
      },
      required: ["kind"],
      $defs: { Named: expect.anything() },
    },
  ],
  [
    "of several parts",
    {
      allOf: [
        { $ref: "#/$defs/Base" },
        { properties: { b: { type: "string" } }, required: ["b"] },
        { $ref: "#" },
      ],
      $defs: {
        Base: {
          type: "object",
          description: "A base.",
          properties: { a: { type: "string" } },
          required: ["a"],
        },
      },
    },
    {
      properties: { a: { type: "string" }, b: { type: "string" } },
      required: ["a", "b"],
      $defs: expect.anything(),
    },
  ],
  [
    "that are a reference",
    {
      $ref: "#/$defs/a~1b",
      $defs: { "a/b": { type: "object", description: "A base.", properties: { a: { type: "string" } } } },
    },
    { description: "A base.", properties: { a: { type: "string" } }, $defs: expect.anything() },
  ],
])("OpenAI and Anthropic take parameters %s", async (_name, parameters, expected) => {
  const tool = { name: "calculate", description: "Calculates.", parameters: { ...parameters } };
  const sent = { type: "object", ...expected };
  await call(openai, [tool]);
  expect(openai.bodies.at(-1)?.tools?.[0]?.function.parameters).toEqual(sent);
  await call(responses, [tool], "responses");
  expect(responses.requests.at(-1)?.tools?.[0]?.parameters).toEqual(sent);
  await call(messages, [tool], "anthropic");
  expect(messages.requests.at(-1)?.tools?.[0]?.input_schema).toEqual(sent);
});

test("OpenAI takes all functions", async () => {
  await call(openai, FUNCTIONS);
  expect(openai.bodies.at(-1)?.tools).toHaveLength(FUNCTIONS.length);
});
