import { afterAll, describe, expect, test } from "vitest";
import { createTrustedEgress } from "@/server/guard/egress/trusted-fetch";
import { ModelError, type ModelMessage, type ModelRequest } from "@/server/work/models/port";
import { createProvider } from "@/server/work/models/provider";
import { testClock } from "@/testing/clock";
import { modelRequest } from "@/testing/servers/model-server";
import { openScriptedServer, type ScriptedAnswer } from "@/testing/servers/scripted-server";

/** Answers of servers as public reports show them. */

const egress = createTrustedEgress();
afterAll(() => egress.close());

const tools = [{ name: "look", description: "Looks.", parameters: { type: "object" } }];
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const DONE = "data: [DONE]\n\n";
const events = (...pieces: (object | string)[]): ScriptedAnswer => ({
  status: 200,
  headers: { "content-type": "text/event-stream" },
  body: pieces
    .map((piece) => (typeof piece === "string" ? piece : `data: ${JSON.stringify(piece)}\n\n`))
    .join(""),
});
const choice = (delta: object, finish: string | null = null, more: object = {}) => ({
  choices: [{ index: 0, delta, finish_reason: finish, ...more }],
});
const whole = (content: string, finish = "stop") => ({
  choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: finish }],
  usage,
});
const says = (content: string, finish?: string): ScriptedAnswer => ({
  status: 200,
  body: whole(content, finish),
});
const rejects = (body: object, status = 400): ScriptedAnswer => ({ status, body });

async function call(
  answers: [ScriptedAnswer, ...ScriptedAnswer[]],
  { isStreamed = false, ...more }: Partial<ModelRequest> & { isStreamed?: boolean } = {},
) {
  const server = await openScriptedServer(...answers);
  const clock = testClock();
  const provider = createProvider({
    name: "test",
    baseUrl: `${server.url}/v1`,
    fetch: egress.fetch,
    clock,
    random: () => 1,
    sleep: async (ms: number) => void clock.advance(ms),
  });
  const onText = isStreamed ? { onText: () => undefined } : {};
  const reply = await provider
    .call(modelRequest("hi", { ...more, ...onText }))
    .catch((error: unknown) => {
      if (error instanceof ModelError) return error;
      throw error;
    })
    .finally(server.close);
  return { reply, requests: server.requests.map(({ body }): unknown => JSON.parse(body)) };
}

type Piece = { index?: number; id?: string | null; function: { name?: string; arguments: string } };

describe("calls in pieces", () => {
  const look = (rest: Omit<Piece, "function">, json: string): Piece => ({
    ...rest,
    function: { name: "look", arguments: json },
  });
  const more = (json: string, rest: Omit<Piece, "function"> = { index: 0 }): Piece => ({
    ...rest,
    function: { arguments: json },
  });

  test.each<[string, Piece[], string[]]>([
    [
      "the complete arguments again (vllm-project/vllm#51697)",
      [look({ index: 0, id: "a" }, '{"x": "y'), more('"}'), more('{"x":"y"}')],
      ['{"x": "y"}'],
    ],
    [
      "the complete call again",
      [look({ index: 0, id: "a" }, '{"x": "y'), more('"}'), look({ index: 0, id: "a" }, '{"x": "y"}')],
      ['{"x": "y"}'],
    ],
    [
      "the complete arguments again in pieces",
      [look({ index: 0, id: "a" }, '{"x":1}'), more('{"x"'), more(":1}")],
      ['{"x":1}'],
    ],
    [
      "the complete arguments behind their beginning",
      [look({ index: 0, id: "a" }, "{"), more('{"x":1}')],
      ['{"x":1}'],
    ],
    [
      "two calls with one id",
      [look({ index: 0, id: "a" }, '{"x":1}'), look({ index: 0, id: "a" }, '{"x":2}')],
      ['{"x":1}', '{"x":2}'],
    ],
    [
      "the rest with the name, without index and id (agentscope-ai/agentscope-java#1223)",
      [look({ id: "a" }, '{"x":1'), look({ id: null }, "}")],
      ['{"x":1}'],
    ],
    [
      "its last piece under an index of none (pipecat-ai/pipecat#4688)",
      [
        look({ index: 0, id: "a" }, ""),
        more('{\n"format": "fahren'),
        more('heit"', { index: 1 }),
        more("\n}", { index: 1 }),
      ],
      ['{\n"format": "fahrenheit"\n}'],
    ],
    [
      "all arguments under indexes of none (dirac-run/dirac#215)",
      [
        look({ index: 0, id: "a" }, ""),
        more('{"x":1}', { index: 1 }),
        look({ index: 1, id: "b" }, ""),
        more('{"x":2}', { index: 2 }),
      ],
      ['{"x":1}', '{"x":2}'],
    ],
    ["two calls without index and id", [look({}, '{"x":1}'), look({}, '{"x":2}')], ['{"x":1}', '{"x":2}']],
  ])("%s", async (_, pieces, expected) => {
    const sent = pieces.map((piece) => choice({ tool_calls: [piece] }));
    const answer = events(...sent, choice({}, "tool_calls"), { choices: [], usage }, DONE);
    const { reply } = await call([answer], { tools, isStreamed: true });
    expect(reply).toMatchObject({ toolCalls: expected.map((text) => ({ name: "look", arguments: text })) });
  });
});

test.each([
  ["in <tool_call>", '<tool_call>\n{"name": "look", "arguments": {"x": 1}}\n</tool_call>', ['{"x":1}']],
  [
    "two in <tool_call>",
    '<tool_call>{"name":"look","arguments":{"x":1}}</tool_call>\n<tool_call>{"name":"look","arguments":{}}</tool_call>',
    ['{"x":1}', "{}"],
  ],
  ["as JSON", '{"name": "look", "arguments": {"x": 1}}', ['{"x":1}']],
  ["as fenced JSON", '```json\n{"name": "look", "parameters": {"x": 1}}\n```', ['{"x":1}']],
])("calls that a server leaves in the text are calls: %s", async (_, text, expected) => {
  const { reply } = await call([says(text)], { tools });
  expect(reply).toMatchObject({ content: "", toolCalls: expected.map((json) => ({ arguments: json })) });
});

test.each([
  '{"name": "other", "arguments": {}}',
  '{"name": "look", "arguments": {}, "note": 1}',
  '{"name": "look"}',
  'Like this: {"name": "look", "arguments": {}}',
  '<tool_call>{"name":"look","arguments":{}}</tool_call> does it',
])("other answers stay texts: %s", async (text) => {
  const { reply } = await call([says(text)], { tools });
  expect(reply).toMatchObject({ content: text, toolCalls: [] });
});

test("a structured answer is no call", async () => {
  const text = '{"name": "look", "arguments": {}}';
  const { reply } = await call([says(text)], { tools, responseSchema: { type: "object" } });
  expect(reply).toMatchObject({ content: text, toolCalls: [] });
});

test.each([
  ["within the choice (AstrBotDevs/AstrBot#6614)", [choice({}, "stop", { usage }), DONE]],
  [
    "before zeros (BerriAI/litellm#17136)",
    [
      choice({}, "stop"),
      { choices: [], usage },
      { choices: [], usage: { prompt_tokens: 0, completion_tokens: 0 } },
      DONE,
    ],
  ],
])("usage %s is read", async (_, end) => {
  const { reply } = await call([events(choice({ content: "fine" }), ...end)], { isStreamed: true });
  expect(reply).toMatchObject({ usage: { inputTokens: 10, outputTokens: 5, estimated: false } });
});

test.each([
  ["[THINK]", "[/THINK]"],
  ["<mm:think>", "</mm:think>"],
  ["<thought>", "</thought>"],
  ["<thinking>", "</thinking>"],
  ["<seed:think>", "</seed:think>"],
])("reasoning in %s is no part of the answer (RooCodeInc/Roo-Code#8522)", async (begin, end) => {
  const pieces = [...`${begin}Let me see.${end}\nFour`].map((content) => choice({ content }));
  const texts: string[] = [];
  const { reply } = await call([events(...pieces, choice({}, "stop"), { choices: [], usage }, DONE)], {
    onText: (readText) => texts.push(readText()),
  });
  expect(reply).toMatchObject({ content: "Four", reasoning: "Let me see." });
  expect(texts).toEqual(["F", "Fo", "Fou", "Four"]);
});

test.each<[string, ScriptedAnswer]>([
  [
    "as events (kaito-project/kaito#1880)",
    events(choice({ content: "fine" }), choice({}, "stop"), { choices: [], usage }, DONE),
  ],
  [
    "as JSON with the end of a stream (decolua/9router#3492)",
    events(JSON.stringify(whole("fine")), "\n\n", DONE),
  ],
])("an answer that should be in one piece may come %s", async (_, answer) => {
  const { reply } = await call([answer]);
  expect(reply).toMatchObject({ content: "fine", usage: { inputTokens: 10, outputTokens: 5 } });
});

test.each([
  "System role not supported",
  "invalid params, chat content has invalid message role: system (2013)",
])("the instructions go with the first message after: %s", async (message) => {
  const messages: ModelMessage[] = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "hi" },
    { role: "assistant", content: "Hello.", toolCalls: [] },
    { role: "user", content: "more" },
  ];
  const { requests } = await call([rejects({ object: "error", message }), says("fine")], { messages });
  expect(requests[1]).toMatchObject({
    messages: [
      { role: "user", content: "Be brief.\n\nhi" },
      { role: "assistant", content: "Hello." },
      { role: "user", content: "more" },
    ],
  });
});

test("without a system role, the schema of an answer goes with the first message, too", async () => {
  const { requests } = await call([rejects({ message: "System role not supported" }), says("{}")], {
    tools,
    responseSchema: { type: "object", title: "T" },
  });
  expect(requests[1]).toMatchObject({
    messages: [{ role: "user", content: expect.stringMatching(/"title":"T".*\n\nhi$/s) }],
  });
});

test("a rejected `strict` leads to the schema in the prompt (OpenRouterTeam/openrouter-examples#71)", async () => {
  const message = "unknown field: parameter 'strict' is not a valid field.";
  const { requests } = await call([rejects({ message }, 422), says("{}")], {
    responseSchema: { type: "object" },
  });
  expect(requests[1]).not.toHaveProperty("response_format");
});

test.each([
  [1004, "unauthorized"],
  [1008, "quota"],
  [1027, "declined"],
  [2013, "rejected"],
  [2049, "unauthorized"],
])("MiniMax's error %i within a success is not repeated", async (code, reason) => {
  const body = { choices: null, base_resp: { status_code: code, status_msg: "no" } };
  const { reply, requests } = await call([{ status: 200, body }, says("fine")]);
  expect(reply).toMatchObject({ reason });
  expect(requests).toHaveLength(1);
});

test.each([1000, 1002])("MiniMax's error %i is repeated", async (code) => {
  const body = { choices: null, base_resp: { status_code: code, status_msg: "busy" } };
  const { reply } = await call([{ status: 200, body }, says("fine")]);
  expect(reply).toMatchObject({ content: "fine" });
});

test.each(["abort", "ERROR", "TIMEOUT", "malformed_model_output"])(
  "an answer that ends with %s is requested again (vllm-project/vllm#57082, ankit373/hydra#976)",
  async (finish) => {
    const { reply } = await call([says("The first ha", finish), says("fine")]);
    expect(reply).toMatchObject({ content: "fine" });
  },
);

test.each(["guardrail_intervened", "content_filtered", "ERROR_TOXIC"])(
  "%s is a filtered answer (pydantic/pydantic-ai#7816)",
  async (finish) => {
    const { reply } = await call([says("Sorry, I cannot say that.", finish)]);
    expect(reply).toMatchObject({ reason: "declined" });
  },
);

// BerriAI/litellm#40252
test.each<[string, object]>([
  ["no choices", { choices: [], usage }],
  ["null for choices", { choices: null, usage }],
  ["null for its message", { choices: [{ index: 0, message: null, finish_reason: "stop" }], usage }],
  ["no message", { choices: [{ index: 0, finish_reason: "stop" }], usage }],
])("an answer with %s is empty: it is requested once more, and charged", async (_, body) => {
  const answer = { status: 200, body };
  const { reply } = await call([answer, says("fine")]);
  expect(reply).toMatchObject({ content: "fine", usage: { inputTokens: 20, outputTokens: 10 } });
  const failed = await call([answer]);
  expect(failed.reply).toMatchObject({ reason: "empty", received: { usage: { inputTokens: 20 } } });
  expect(failed.requests).toHaveLength(2);
});

test("an error beside a choice without a message is that error", async () => {
  const choices = [{ index: 0, message: null, finish_reason: null }];
  const body = { choices, error: { code: 429, message: "Slow down, try again in 3s" } };
  const { reply, requests } = await call([{ status: 200, body }, says("fine")]);
  const attempts = [{ error: expect.stringContaining("Slow down") }, { error: null }];
  expect(reply).toMatchObject({ content: "fine", attempts });
  expect(requests).toHaveLength(2);
  const rejected = await call([{ status: 200, body: { choices, error: { code: 401, message: "No key" } } }]);
  expect(rejected.reply).toMatchObject({ reason: "unauthorized" });
});

test.each<[string, object]>([
  ["a text for its message", { choices: [{ text: "fine", finish_reason: "stop" }], usage }],
  ["a delta for its message", { choices: [{ delta: { content: "fine" }, finish_reason: "stop" }], usage }],
  ["nothing but null", { choices: [{ message: null, finish_reason: null }] }],
])("an answer with %s is no chat completion", async (_, body) => {
  const { reply } = await call([{ status: 200, body }]);
  expect(reply).toMatchObject({ message: expect.stringContaining("is not a chat completion") });
});

test("a stream with usage, but no choice, is an empty answer, too", async () => {
  const { reply, requests } = await call([events({ choices: [], usage }, DONE), says("fine")], {
    isStreamed: true,
  });
  expect(reply).toMatchObject({ content: "fine", usage: { inputTokens: 20, outputTokens: 10 } });
  expect(requests).toMatchObject([{ stream: true }, { stream: true }]);
});

test("a filtered answer may have null for its message (affaan-m/ECC#1976)", async () => {
  const body = { choices: [{ index: 0, message: null, finish_reason: "content_filter" }], usage };
  const { reply, requests } = await call([{ status: 200, body }]);
  expect(reply).toMatchObject({ reason: "declined", fallsBack: false });
  expect(requests).toHaveLength(1);
});

test.each([
  ["in one piece", false],
  ["streamed", true],
])(
  "an answer that only OpenRouter's native reason calls broken is requested again, %s (earendil-works/pi#8511)",
  async (_, isStreamed) => {
    const native = { native_finish_reason: "network_error" };
    const [given] = whole("Half an ans").choices;
    const answer = isStreamed
      ? events(choice({ content: "Half an ans" }), choice({}, "stop", native), { choices: [], usage }, DONE)
      : { status: 200, body: { choices: [{ ...given, ...native }], usage } };
    const { reply, requests } = await call([answer, says("fine")], { isStreamed });
    expect(reply).toMatchObject({ content: "fine", usage: { inputTokens: 20 } });
    expect(requests).toHaveLength(2);
  },
);

const LEAKED = [
  // sgl-project/sglang#40236
  '<｜DSML｜function_calls>\n<｜DSML｜invoke name="look">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
  // NousResearch/hermes-agent#24534
  "I look.<|tool_calls_section_begin|><|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
  // earendil-works/pi#368
  '<minimax:tool_call>\n<invoke name="look">\n</invoke>\n</minimax:tool_call>',
  // DeepSeek's chat template of V3
  "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>look\n```json\n{}\n```<｜tool▁call▁end｜>",
];

test.each(LEAKED)("a call that came as markup is requested once more, then it fails: %s", async (text) => {
  expect((await call([says(text), says("fine")], { tools })).reply).toMatchObject({ content: "fine" });
  const { reply, requests } = await call([says(text)], { tools });
  const message = expect.stringMatching(/sent a call of look only as markup twice$/);
  expect(reply).toMatchObject({ reason: "empty", message });
  expect(requests).toHaveLength(2);
  // The call that closes a conversation offers no tools.
  const called = { id: "a", name: "look", arguments: "{}" };
  const messages: ModelMessage[] = [
    { role: "user", content: "hi" },
    { role: "assistant", content: "", toolCalls: [called] },
    { role: "tool", toolCallId: "a", content: "1" },
  ];
  const closing = await call([says(text)], { messages, withheldTools: tools });
  expect(closing.reply).toMatchObject({ reason: "empty" });
});

test.each(LEAKED)("an answer that only shows such markup stays an answer: %s", async (text) => {
  const line = text.replaceAll("\n", "");
  const fenced = ["```", "````", "~~~"].map((fence) => `It writes this:\n\n${fence}\n${text}\n${fence}\nSo.`);
  const others = [`\`${line}\` and \`\` \`${line}\` \`\``, `    ${line}`, text.replaceAll("look", "other")];
  for (const content of [...fenced, ...others, JSON.stringify({ text })])
    expect((await call([says(content)], { tools })).reply).toMatchObject({ content });
  expect((await call([says(text)])).reply).toMatchObject({ content: text });
});

test.each([
  "Kimi begins its section with <|tool_calls_section_begin|>, and each call with <|tool_call_begin|>.",
  "MiniMax writes <minimax:tool_call> before look.",
  "DeepSeek writes <｜DSML｜function_calls> and <｜tool▁calls▁begin｜>.",
])("an answer about such marks stays an answer: %s", async (content) => {
  expect((await call([says(content)], { tools })).reply).toMatchObject({ content });
});
