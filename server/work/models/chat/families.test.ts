import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createTrustedEgress } from "@/server/guard/egress/trusted-fetch";
import type { ModelMessage } from "@/server/work/models/port";
import { createProvider } from "@/server/work/models/provider";
import { testClock } from "@/testing/clock";
import { type ModelServer, modelRequest, startModelServer } from "@/testing/servers/model-server";

const egress = createTrustedEgress();
let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(async () => {
  await egress.close();
  await server.close();
});
afterEach(() => {
  server.requests.length = 0;
});

function provider(baseUrl = server.url) {
  const clock = testClock();
  const sleep = async (ms: number) => void clock.advance(ms);
  return createProvider({
    name: "test",
    baseUrl,
    fetch: egress.fetch,
    clock,
    random: () => 1,
    sleep,
  });
}
const onText = () => undefined;
const tools = [{ name: "look", description: "Looks.", parameters: { type: "object" } }];
type Piece = { index?: number; id?: string; function?: { name?: string; arguments?: string } };
const streamed = (...pieces: Piece[]) => ({
  events: [
    ...pieces.map((piece) => ({ choices: [{ delta: { tool_calls: [piece] } }] })),
    { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
  ],
});
const piece = (index: number, id: string | undefined, name: string | undefined, json: string): Piece => ({
  index,
  ...(id && { id }),
  function: { ...(name && { name }), arguments: json },
});

test.each<[string, Piece[], string[]]>([
  // BerriAI/litellm#33678
  [
    "Ollama: one index, two ids",
    [piece(0, "a", "look", '{"at":1}'), piece(0, "b", "look", '{"at":2}')],
    ['{"at":1}', '{"at":2}'],
  ],
  [
    "one index, two names",
    [piece(0, undefined, "look", '{"at":1}'), piece(0, undefined, "seek", "{}")],
    ['{"at":1}', "{}"],
  ],
  [
    "one index and name, complete arguments",
    [piece(0, undefined, "look", '{"at":1}'), piece(0, undefined, "look", '{"at":2}')],
    ['{"at":1}', '{"at":2}'],
  ],
  [
    "an id for each piece",
    [piece(0, "a", "look", '{"at"'), piece(0, "b", undefined, ":1}"), piece(0, "c", undefined, "")],
    ['{"at":1}'],
  ],
  [
    "id and name in each piece",
    [piece(0, "a", "look", '{"at":{"x":"}'), piece(0, "a", "look", '{"}}')],
    ['{"at":{"x":"}{"}}'],
  ],
  // vercel/ai#15879
  [
    "the name behind the arguments, an id without an index",
    [
      { id: "a", function: { arguments: '{"a' } },
      { id: "a", function: { name: "look", arguments: 't":1}' } },
      { id: "b", function: { name: "look", arguments: '{"at":2}' } },
    ],
    ['{"at":1}', '{"at":2}'],
  ],
  [
    "the name behind the arguments, neither id nor index",
    [{ function: { arguments: '{"at"' } }, { function: { name: "look", arguments: ":1}" } }],
    ['{"at":1}'],
  ],
  [
    "id and name in each piece without an index",
    [
      { id: "a", function: { name: "look", arguments: '{"at"' } },
      { id: "a", function: { name: "look", arguments: ":1}" } },
      { id: "a", function: { name: "look", arguments: "" } },
    ],
    ['{"at":1}'],
  ],
  // openai/openai-agents-js#712: the empty input of a block, then its deltas.
  [
    "an empty object first",
    [piece(0, "a", "look", "{}"), piece(0, undefined, undefined, '{"at":1}')],
    ['{"at":1}'],
  ],
  [
    "line ends in a string",
    [piece(0, "a", "look", '{\n "at": "one\n\ttwo"}')],
    ['{\n "at": "one\\n\\ttwo"}'],
  ],
])("streamed calls: %s", async (name, pieces, expected) => {
  server.script(name, streamed(...pieces));
  const { toolCalls } = await provider().call(modelRequest(name, { tools, onText }));
  expect(toolCalls.map((call) => call.arguments)).toEqual(expected);
});

test("a streamed call without a name is not dropped (Kilo-Org/kilocode#5816)", async () => {
  server.script("nameless", streamed({ function: { arguments: '{"at":1}' } }));
  const { toolCalls } = await provider().call(modelRequest("nameless", { tools, onText }));
  expect(toolCalls).toMatchObject([
    { name: "unreadable_call", arguments: expect.stringContaining("no name") },
  ]);
});

test.each([
  // vllm-project/vllm#54964
  ["encoded twice", JSON.stringify('{"at":1}'), '{"at":1}'],
  ["after an empty object", '{}{"at":1}', '{"at":1}'],
  ["of another broken form", '{"at":1}{"at":2}', '{"at":1}{"at":2}'],
  ["that are a text", '"at 1"', '"at 1"'],
])("arguments %s", async (name, given, expected) => {
  server.script(name, { calls: [{ name: "look", arguments: given }] });
  const { toolCalls } = await provider().call(modelRequest(name, { tools }));
  expect(toolCalls[0]?.arguments).toBe(expected);
});

test.each([
  ["closed", "<think>\nLet me see.</think>\n\nThe answer.", "The answer."],
  ["within the answer", "Use <think> tags.</think>", "Use <think> tags.</think>"],
])("thinking that is %s", async (name, content, expected) => {
  const seen: string[] = [];
  server.script(name, { content, pieces: content.split(/(?<=[ek])/) });
  const request = modelRequest(name, { onText: (readText) => seen.push(readText()) });
  expect(await provider().call(request)).toMatchObject({ content: expected });
  for (const text of seen) expect(expected.startsWith(text)).toBe(true);
  expect(seen.at(-1)).toBe(expected);
});

test("thinking that is not closed is no answer", async () => {
  server.script("endless", { content: "<think>Let me see" });
  await expect(provider().call(modelRequest("endless"))).rejects.toMatchObject({ reason: "empty" });
});

// pydantic/pydantic-ai#4354, drnic/groq-ruby#12
test.each(["tool_use_failed", "json_validate_failed"])("Groq's %s is repeated", async (code) => {
  server.script(code, [{ status: 400, code, message: "Failed to generate." }, { content: "Done." }]);
  expect(await provider().call(modelRequest(code, { tools }))).toMatchObject({ content: "Done." });
});

test("a closing call keeps the tools where a server wants them, from then on", async () => {
  const messages: ModelMessage[] = [
    { role: "user", content: "closing" },
    { role: "assistant", content: "", toolCalls: [{ id: "a", name: "look", arguments: "{}" }] },
    { role: "tool", toolCallId: "a", content: "1" },
  ];
  // LiteLLM in front of Anthropic and Bedrock (langgenius/dify-official-plugins#2063).
  const message = "UnsupportedParamsError: Anthropic expects the `tools=` param to be passed in.";
  server.script("closing", { content: "unused" }, [{ status: 400, message }, { content: "Done." }]);
  const { call } = provider();
  const request = modelRequest("closing", { messages, withheldTools: tools });
  expect((await call(request)).content).toBe("Done.");
  await call(request);
  const sent = server.requests.map(({ body }) => [body.tools?.length, body.tool_choice]);
  expect(sent).toEqual([
    [undefined, undefined],
    [1, "none"],
    [1, "none"],
  ]);
});

test("schemas are offered without what servers reject", async () => {
  const parameters = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      propertyNames: { description: "A property that is named like a keyword." },
      map: { type: "object", propertyNames: { type: "string" }, additionalProperties: {} },
      kind: { enum: ["a", "b"] },
      list: { type: "array", items: {} },
    },
    required: ["map"],
  };
  await provider().call(modelRequest("offer", { tools: [{ name: "look", description: "", parameters }] }));
  const any = { anyOf: expect.arrayContaining([{ type: "string" }]) };
  expect(server.requests[0]?.body.tools?.[0]).toMatchObject({
    function: {
      parameters: {
        type: "object",
        properties: {
          propertyNames: { description: expect.any(String), ...any },
          map: { type: "object", additionalProperties: true },
          kind: { type: "string", enum: ["a", "b"] },
          list: { type: "array", items: any },
        },
        required: ["map"],
      },
    },
  });
  expect(JSON.stringify(server.requests[0]?.body)).not.toMatch(/"\$schema"|"propertyNames":\{"type"/);
});

test("a schema of several types is offered as one schema for each (aoci-spec/aoci-code#61)", async () => {
  const parameters = {
    type: "object",
    properties: {
      name: { type: ["string", "null"], description: "A name.", maxLength: 9 },
      kind: { type: ["string", "null"], enum: ["a", null] },
      part: {
        type: ["null", "object"],
        properties: { list: { type: ["array"], items: {} } },
        required: ["list"],
      },
      size: { type: ["integer", "string"], minimum: 1, pattern: "^x" },
      other: { type: ["string", "null"], not: { const: "b" } },
    },
  };
  await provider().call(modelRequest("types", { tools: [{ name: "look", description: "", parameters }] }));
  const offered = { ...server.requests[0]?.body.tools?.[0] };
  expect(offered).toMatchObject({
    function: {
      parameters: {
        properties: {
          name: { description: "A name.", anyOf: [{ type: "string", maxLength: 9 }, { type: "null" }] },
          kind: { anyOf: [{ type: "string", enum: ["a"] }, { type: "null" }] },
          part: {
            anyOf: [
              { type: "null" },
              { type: "object", properties: { list: { type: "array" } }, required: ["list"] },
            ],
          },
          size: {
            anyOf: [
              { type: "integer", minimum: 1 },
              { type: "string", pattern: "^x" },
            ],
          },
          other: { type: ["string", "null"], not: { const: "b" } },
        },
      },
    },
  });
});

test("Gemini gets schemas with the keywords that it knows, after it rejected another", async () => {
  const message = `Invalid JSON payload received. Unknown name "const" at 'tools[0].function_declarations[0].parameters': Cannot find field.`;
  server.script("keywords", [{ status: 400, message }, { content: "ok" }]);
  const parameters = {
    type: "object",
    properties: {
      kind: { const: "a", examples: ["a"] },
      size: { oneOf: [{ type: "integer", exclusiveMinimum: 0 }, { const: "all" }] },
      const: { type: "object", additionalProperties: { type: "string" } },
    },
    additionalProperties: false,
  };
  const tools = [{ name: "look", description: "", parameters }];
  const { attempts } = await provider().call(modelRequest("keywords", { tools }));
  expect(attempts).toHaveLength(2);
  expect({ ...server.requests.at(-1)?.body.tools?.[0] }.function).toMatchObject({
    parameters: {
      type: "object",
      properties: {
        kind: { type: "string", enum: ["a"] },
        size: { anyOf: [{ type: "integer" }, { enum: ["all"] }] },
        const: { type: "object" },
      },
    },
  });
  const sent = JSON.stringify(server.requests.at(-1)?.body.tools);
  expect(sent).not.toMatch(/additionalProperties|examples|exclusiveMinimum|oneOf|"const":"a/);
});

test("a query of the base address stays behind the path (mindsdb/mindshub#11285)", async () => {
  const seen: string[] = [];
  const clock = testClock();
  await createProvider({
    name: "azure",
    baseUrl: "https://me.openai.azure.com/openai/deployments/gpt?api-version=2024-10-21",
    fetch: async (address) => {
      seen.push(String(address));
      return Response.json({ choices: [{ message: { content: "ok" } }] });
    },
    clock,
    random: () => 1,
    sleep: async () => undefined,
  }).call(modelRequest("hi"));
  expect(seen).toEqual([
    "https://me.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21",
  ]);
});

test("Qwen thinks only while it streams: a server that reports no usage in streams goes on streaming", async () => {
  const rejection = {
    status: 400,
    message: "parameter.enable_thinking must be set to false for non-streaming calls",
    code: "invalid_parameter_error",
  };
  server.script("first", { content: "ok", usage: null });
  server.script("second", [rejection, { content: "ok", usage: null }]);
  server.script("third", { content: "ok" });
  const { call } = provider();
  for (const name of ["first", "second", "third"])
    expect(await call(modelRequest(name, { onText }))).toMatchObject({ content: "ok" });
  expect(server.requests.map(({ body }) => body.stream)).toEqual([true, false, true, true]);
});
