import { afterAll, expect, test } from "vitest";
import type { ModelApi } from "@/server/base/models/model-api";
import { createTrustedEgress } from "@/server/guard/egress/trusted-fetch";
import { inputSchemaOf, listFunctions } from "@/server/work/functions/core/registry";
import type { OfferedTool } from "@/server/work/models/port";
import { createProvider } from "@/server/work/models/provider";
import { testClock } from "@/testing/clock";
import { startChatServer } from "@/testing/servers/families/chat-server";
import { createGeminiTools } from "@/testing/servers/families/gemini";
import { openaiChat } from "@/testing/servers/families/openai-chat";
import { startStrictMessages, textBlock } from "@/testing/servers/families/strict-messages";
import { messageItem, startStrictResponses } from "@/testing/servers/families/strict-responses";
import { modelRequest } from "@/testing/servers/model-server";

/** Schemas of tools that providers rejected, and those of all functions, at servers that are as strict. */

const egress = createTrustedEgress();
const gemini = await startChatServer(createGeminiTools({ isOld: false }));
const oldGemini = await startChatServer(createGeminiTools({ isOld: true }));
const openai = await startChatServer(openaiChat);
const responses = await startStrictResponses(() => ({ items: [messageItem("1")] }));
const messages = await startStrictMessages(() => ({ blocks: [textBlock("1")] }));
afterAll(async () => {
  await egress.close();
  for (const { close } of [gemini, oldGemini, openai, responses, messages]) await close();
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
  expect(tool?.function.parameters?.properties).toEqual({
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
  [
    "that are an encoded reference",
    {
      $ref: "#/definitions/Page%3CItem%3E",
      definitions: { "Page<Item>": { type: "object", properties: { a: { type: "string" } } } },
    },
    { properties: { a: { type: "string" } }, definitions: expect.anything() },
  ],
  [
    "whose forms refine a property",
    {
      properties: { kind: { type: "string", description: "A kind." }, a: { type: "string" } },
      oneOf: [
        { properties: { kind: { const: "a" }, a: { minLength: 1 } } },
        { properties: { kind: { const: "b" } } },
      ],
      allOf: [{ properties: { a: { type: "string", description: "A text." } } }],
    },
    {
      properties: {
        kind: { type: "string", description: "A kind.", anyOf: [{ const: "a" }, { const: "b" }] },
        a: { type: "string", description: "A text." },
      },
    },
  ],
  [
    "whose forms refer to each other",
    {
      anyOf: [
        { properties: { home: { type: "string" } } },
        { properties: { work: { $ref: "#/anyOf/0/properties/home" } } },
      ],
    },
    {
      properties: {
        home: { type: "string" },
        work: { $ref: "#/$defs/TopLevelParts/anyOf/0/properties/home" },
      },
      $defs: {
        TopLevelParts: {
          anyOf: [
            { properties: { home: { type: "string" } } },
            { properties: { work: { $ref: "#/$defs/TopLevelParts/anyOf/0/properties/home" } } },
          ],
        },
      },
    },
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

// AnswerDotAI/fastllm#51, jenslys/opencode-gemini-auth#57, microsoft/autogen#6848, anomalyco/opencode#28397,
// MarkusPfundstein/mcp-obsidian#21
const FOR_GEMINI = {
  ...ARRAYS,
  edits: { $ref: "#/$defs/Edit", description: "An edit." },
  tree: { $ref: "#/$defs/Tree" },
  size: { type: ["number", "null"], description: "A size." },
  any: { description: "Anything." },
  level: { enum: [1, 2] },
  one: { const: 1 },
  mode: { type: "string", enum: ["a", ""], format: "uri" },
  headers: { type: "object", additionalProperties: { type: "string" }, description: "Headers." },
  both: { allOf: [{ $ref: "#/$defs/Edit" }, { properties: { by: { type: "string" } } }] },
  flag: { anyOf: [{ type: "boolean" }, { type: "null" }], description: "A flag." },
  either: {
    type: "object",
    properties: { a: { type: "string" } },
    anyOf: [{ required: ["a"] }, { required: ["b"] }],
  },
};
const EDIT = { type: "object", properties: { at: { type: "integer" } }, required: ["at"] };
const TREE = { type: "object", properties: { name: { type: "string" }, left: { $ref: "#/$defs/Tree" } } };

test.each([
  ["Gemini", gemini, false],
  ["an older Gemini", oldGemini, true],
])("%s takes schemas after it rejected them", async (_name, server, isOld) => {
  const tool = toolWith(FOR_GEMINI);
  const parameters = { ...tool.parameters, $defs: { Edit: EDIT, Tree: TREE } };
  const bare = { name: "bare", description: "", parameters: { type: "object" } };
  const reply = await call(server, [{ ...tool, parameters }, bare]);
  expect(reply.attempts).toHaveLength(isOld ? 3 : 2);
  expect(reply.attempts.at(-1)?.changes?.[0]).toMatch(/Gemini's form/);
  const tools = server.bodies.at(-1)?.tools;
  const empty = (description: string) =>
    isOld
      ? { type: "string", description: `${description} A JSON object, as text.`.trim() }
      : { type: "object", ...(description && { description }) };
  const scalars = (more: object = {}) => [
    { type: "string", ...more },
    { type: "number" },
    { type: "boolean" },
    empty(""),
  ];
  const any = { anyOf: scalars() };
  const pair = { anyOf: [{ type: "integer" }, { type: "string" }] };
  expect(tools?.[0]?.function.parameters).toEqual({
    type: "object",
    properties: {
      objects: { type: "array", items: any },
      maybe: { type: "array", description: "Perhaps.", nullable: true, items: any },
      range: { type: "array", items: pair },
      old: { type: "array", items: pair },
      deep: { type: "array", items: { type: "array", items: any } },
      edits: { ...EDIT, description: "An edit." },
      tree: { type: "object", properties: { name: { type: "string" }, left: empty("") } },
      size: { type: "number", description: "A size.", nullable: true },
      any: { anyOf: [...scalars({ description: "Anything." }), { type: "array", items: any }] },
      level: { type: "number", description: "One of: 1, 2" },
      one: { type: "number", description: "One of: 1" },
      mode: { type: "string", enum: ["a"] },
      headers: empty("Headers."),
      both: { ...EDIT, properties: { ...EDIT.properties, by: { type: "string" } } },
      flag: { type: "boolean", description: "A flag.", nullable: true },
      either: { type: "object", properties: { a: { type: "string" } } },
    },
  });
  expect(tools?.[1]?.function.parameters).toEqual(isOld ? undefined : { type: "object", properties: {} });
});

test.each([
  ["Gemini", gemini],
  ["an older Gemini", oldGemini],
])("%s takes all functions", async (_name, server) => {
  await call(server, FUNCTIONS);
  expect(server.bodies.at(-1)?.tools).toHaveLength(FUNCTIONS.length);
});

test("references that multiply are cut for Gemini", async () => {
  const names = Array.from({ length: 40 }, (_, index) => `D${index}`);
  const $defs = Object.fromEntries(
    names.map((name, index) => {
      const $ref = `#/$defs/D${index + 1}`;
      return [name, { type: "object", properties: { a: { $ref }, b: { $ref } } }];
    }),
  );
  const tool = toolWith({ first: { $ref: "#/$defs/D0" } });
  await call(gemini, [{ ...tool, parameters: { ...tool.parameters, $defs } }]);
  expect(JSON.stringify(gemini.bodies.at(-1)?.tools).length).toBeLessThan(200_000);
});

// langchain-ai/open_deep_research#80, OpenHands/OpenHands#4838
test("OpenAI takes long descriptions, cut after it stated its maximum", async () => {
  const tool = { ...toolWith({}), description: `${"x".repeat(1022)}🌍${"x".repeat(8_000)}` };
  const cut = `${"x".repeat(1022)}\ufffd…`;
  const changes = expect.arrayContaining(["descriptions of tools were cut to 1,024 characters"]);
  const { attempts } = await call(openai, [tool]);
  expect(attempts.at(-1)).toMatchObject({ changes });
  expect(openai.bodies.at(-1)?.tools?.[0]?.function.description).toBe(cut);
  expect((await call(responses, [tool], "responses")).attempts).toMatchObject([{}, { changes }]);
  expect(responses.requests.at(-1)?.tools?.[0]?.description).toBe(cut);
});
