import { afterAll, afterEach, expect, test } from "vitest";
import { createTrustedEgress } from "@/server/guard/egress/trusted-fetch";
import { ModelError, type ModelMessage, type ModelReply, type ModelRequest } from "@/server/work/models/port";
import { createProvider } from "@/server/work/models/provider";
import { testClock } from "@/testing/clock";
import {
  callBlock,
  type MessageLine,
  redactedBlock,
  startStrictMessages,
  textBlock,
  thinkingBlock,
} from "@/testing/servers/families/strict-messages";
import { modelRequest } from "@/testing/servers/model-server";

const egress = createTrustedEgress();
let closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.map((close) => close()));
  closing = [];
});
afterAll(() => egress.close());

async function serve(lines: MessageLine[], options: Parameters<typeof startStrictMessages>[1] = {}) {
  let asked = 0;
  const server = await startStrictMessages(() => {
    asked += 1;
    return lines[Math.min(asked, lines.length) - 1] ?? {};
  }, options);
  closing.push(server.close);
  const clock = testClock();
  const waits: number[] = [];
  const provider = createProvider({
    name: "test",
    api: "anthropic",
    apiKey: "sk-ant-test",
    baseUrl: server.url,
    fetch: egress.fetch,
    clock,
    random: () => 1,
    sleep: async (ms) => {
      waits.push(ms);
      clock.advance(ms);
    },
  });
  return { server, waits, call: (request: ModelRequest) => provider.call(request) };
}

const tools = [{ name: "look", description: "Looks.", parameters: { type: "object" } }];
const onText = () => undefined;
const system: ModelMessage = { role: "system", content: "Be brief." };
const user: ModelMessage = { role: "user", content: "Look." };
const behind = ({ content, state, toolCalls }: ModelReply): ModelMessage[] => [
  { role: "assistant", content, state, toolCalls },
  ...toolCalls.map(({ id }): ModelMessage => ({ role: "tool", toolCallId: id, content: "1" })),
];
const CACHED = { type: "ephemeral" };

test.each([
  ["streamed", { onText }],
  ["whole", {}],
])("thinking goes back as it came, %s", async (_name, streaming) => {
  const first = [
    thinkingBlock("I have to look. 計算"),
    redactedBlock(),
    textBlock("I look."),
    callBlock("look", { at: "é" }),
    callBlock("look", {}),
  ];
  const second = [thinkingBlock(""), callBlock("look", { at: 2 })];
  const { server, call } = await serve([
    { blocks: first },
    { blocks: second },
    { blocks: [textBlock("It is 1.")] },
  ]);
  const request = modelRequest("", { messages: [system, user], tools, ...streaming });
  const one = await call(request);
  expect(one).toMatchObject({
    content: "I look.",
    reasoning: "I have to look. 計算",
    toolCalls: [
      { id: first[3]?.id, name: "look", arguments: '{"at":"é"}' },
      { id: first[4]?.id, name: "look", arguments: "{}" },
    ],
    finishReason: "tool_use",
    // Tokens read from the cache and written to it are part of the input.
    usage: { inputTokens: 100, outputTokens: 50, estimated: false },
  });
  const messages = [...request.messages, ...behind(one)];
  const two = await call({ ...request, messages });
  // The call that closes the conversation offers no tools of its own.
  const three = await call({
    ...request,
    tools: [],
    withheldTools: tools,
    messages: [...messages, ...behind(two)],
  });
  expect(three).toMatchObject({ content: "It is 1.", toolCalls: [], finishReason: "end_turn" });
  expect(server.rejected).toEqual([]);
  expect(server.requests[2]?.messages[1]?.content).toEqual(first);
  expect(server.requests[2]?.messages[3]?.content).toEqual(second);
  expect(server.requests[0]).toMatchObject({
    max_tokens: 500,
    system: [{ text: "Be brief.", cache_control: CACHED }],
    messages: [{ role: "user", content: [{ type: "text", text: "Look.", cache_control: CACHED }] }],
  });
  expect(server.requests[2]).toMatchObject({ tools: [{ name: "look" }], tool_choice: { type: "none" } });
  expect(server.requests[2]?.messages.map(({ role, content }) => [role, content.length])).toEqual([
    ["user", 1],
    ["assistant", 5],
    ["user", 2],
    ["assistant", 2],
    ["user", 1],
  ]);
  expect(server.requests[2]?.messages.at(-1)?.content).toMatchObject([{ cache_control: CACHED }]);
});

test("the text grows as it arrives", async () => {
  const seen: string[] = [];
  const { call } = await serve([
    { blocks: [thinkingBlock("Hm."), textBlock("The answer."), textBlock(" It is 1.")] },
  ]);
  const { content } = await call(modelRequest("hi", { onText: (readText) => seen.push(readText()) }));
  expect(content).toBe("The answer. It is 1.");
  expect(seen).toEqual(["The ans", "The answer.", "The answer. It is ", "The answer. It is 1."]);
});

test("another provider's messages go as text and plain calls, and a single call marks nothing", async () => {
  const { server, call } = await serve([{ blocks: [textBlock("Done.")] }]);
  const state = JSON.stringify({ origin: "elsewhere", blocks: [thinkingBlock("x")] });
  const messages: ModelMessage[] = [
    user,
    { role: "assistant", content: " ", state, toolCalls: [{ id: "a.1", name: "run tool", arguments: "{" }] },
    { role: "tool", toolCallId: "a.1", content: "1" },
    { role: "assistant", content: "It is 1.", toolCalls: [] },
    { role: "user", content: "Again." },
  ];
  expect((await call(modelRequest("", { messages, withheldTools: tools }))).content).toBe("Done.");
  expect(server.requests[0]?.messages).toMatchObject([
    { content: [{ type: "text", text: "Look." }] },
    { content: [{ type: "tool_use", id: "a_1", name: "run_tool", input: {} }] },
    { content: [{ type: "tool_result", tool_use_id: "a_1", content: "1" }] },
    { content: [{ type: "text", text: "It is 1." }] },
    { content: [{ type: "text", text: "Again." }] },
  ]);
  await call(modelRequest("hi", { messages: [system, user] }));
  expect(JSON.stringify(server.requests[1])).not.toContain("cache_control");
});

test("a name that Anthropic rejects goes back in another form", async () => {
  const { server, call } = await serve([
    { blocks: [thinkingBlock("Hm."), callBlock("look up", {})] },
    { blocks: [textBlock("Done.")] },
  ]);
  const request = modelRequest("", { messages: [user], tools });
  const reply = await call(request);
  expect((await call({ ...request, messages: [user, ...behind(reply)] })).content).toBe("Done.");
  expect(server.requests[1]?.messages[1]?.content).toMatchObject([{ type: "thinking" }, { name: "look_up" }]);
});

const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

test.each([
  ["streamed", { onText }],
  ["whole", {}],
])("an answer of a schema is a forced call, %s", async (_name, streaming) => {
  const answer = callBlock("final_answer", { city: "Oslo" });
  const early = [thinkingBlock("Both."), callBlock("look", {}), answer];
  const { server, call } = await serve([
    { blocks: early },
    { blocks: [thinkingBlock("Now."), answer] },
    { blocks: [textBlock("Done.")] },
  ]);
  const request = modelRequest("", { messages: [user], tools, responseSchema: schema, ...streaming });
  const one = await call(request);
  // Beside another call, an answer is too early, and does not go back.
  expect(one).toMatchObject({ content: "", toolCalls: [{ name: "look" }] });
  const messages = [user, ...behind(one)];
  const two = await call({ ...request, messages });
  expect(two).toMatchObject({ content: '{"city":"Oslo"}', toolCalls: [] });
  // A correction: the answer goes back as text.
  const { content, state } = two;
  const corrected: ModelMessage[] = [...messages, { role: "assistant", content, state, toolCalls: [] }, user];
  await call({ ...request, tools: [], withheldTools: tools, messages: corrected });
  expect(server.requests.map((sent) => sent.tool_choice)).toEqual([
    { type: "any" },
    { type: "any" },
    { type: "tool", name: "final_answer" },
  ]);
  expect(server.requests[0]?.tools).toMatchObject([
    { name: "look" },
    { name: "final_answer", input_schema: schema },
  ]);
  expect(server.requests[1]?.messages[1]?.content.map(({ type }) => type)).toEqual(["thinking", "tool_use"]);
  expect(server.requests[2]?.messages[3]?.content).toMatchObject([
    { type: "thinking" },
    { text: '{"city":"Oslo"}' },
  ]);
});

test("a schema that no tool can have is described, and the name of a tool is not taken", async () => {
  const { server, call } = await serve([{ blocks: [textBlock("[1]")] }]);
  await call(modelRequest("hi", { responseSchema: { type: "array" } }));
  expect(server.requests[0]).toMatchObject({ system: [{ text: expect.stringContaining("JSON Schema") }] });
  expect(server.requests[0]?.tools).toBeUndefined();
  const taken = [{ name: "final_answer", description: "", parameters: {} }];
  await call(modelRequest("hi", { responseSchema: schema, tools: taken }));
  expect(server.requests[1]?.tools?.map(({ name }) => name)).toEqual(["final_answer", "final_answer_"]);
});

test("settings are sent by their names", async () => {
  const { server, call } = await serve([{ blocks: [textBlock("Done.")] }]);
  const settings = { topP: 0.9, reasoningEffort: "minimal" as const, parallelToolCalls: false };
  await call(modelRequest("hi", { tools, settings }));
  expect(server.requests[0]).toMatchObject({
    top_p: 0.9,
    thinking: { type: "adaptive", display: "summarized" },
    output_config: { effort: "low" },
    tool_choice: { type: "auto", disable_parallel_tool_use: true },
  });
  await call(modelRequest("hi", { settings: { reasoningEffort: "none", temperature: 0.5 } }));
  expect(server.requests[1]).toMatchObject({ thinking: { type: "disabled" }, temperature: 0.5 });
  // A budget of its own forbids to force a tool.
  const modelOptions = { thinking: { type: "enabled", budget_tokens: 2_000 } };
  await call(modelRequest("hi", { settings: { modelOptions }, responseSchema: schema }));
  expect(server.requests[2]).toMatchObject(modelOptions);
  expect(server.requests[2]?.tool_choice).toBeUndefined();
});

test("what a model rejects is left out from then on", async () => {
  const { server, call } = await serve([{ blocks: [textBlock("Done.")] }], {
    rejects: ["effort", "adaptive", "stream"],
  });
  const settings = { reasoningEffort: "high" as const, temperature: 1.5 };
  const { content, attempts } = await call(modelRequest("hi", { settings, onText }));
  expect(content).toBe("Done.");
  expect(attempts.map(({ error }) => error)).toEqual([
    expect.stringContaining("answered 400 temperature: "),
    expect.stringContaining("effort parameter"),
    expect.stringContaining("adaptive thinking"),
    expect.stringContaining("stream is not supported"),
    null,
  ]);
  expect((await call(modelRequest("hi", { settings, onText }))).attempts).toHaveLength(1);
  expect(Object.keys(server.requests.at(-1) ?? {}).sort()).toEqual(["max_tokens", "messages", "model"]);
});

test("a setting that an error names only beside its message is left out", async () => {
  const message = "This value is not supported.";
  const error = { status: 400, type: "invalid_request_error", message, param: "temperature" };
  const { call } = await serve([{ error }, { blocks: [textBlock("Done.")] }]);
  const { attempts } = await call(modelRequest("hi", { settings: { temperature: 0.2 } }));
  expect(attempts.at(-1)).toMatchObject({ error: null, changes: ["temperature was left out"] });
});

// anthropics/anthropic-sdk-python#1598
test("thinking that can no longer be verified is left out, and off for the rest of its turn", async () => {
  let isForgotten = false;
  const { server, call } = await serve(
    [{ blocks: [thinkingBlock("Hm."), callBlock("look", {})] }, { blocks: [textBlock("It is 1.")] }],
    { hasForgotten: () => isForgotten },
  );
  const settings = { modelOptions: { thinking: { type: "enabled", budget_tokens: 2_000 } } };
  const request = modelRequest("", { messages: [user], tools, settings });
  const one = await call(request);
  isForgotten = true;
  const messages = [...request.messages, ...behind(one)];
  const two = await call({ ...request, messages });
  const leftOut = "reasoning of earlier messages was left out, because the provider could not verify it";
  expect(two).toMatchObject({
    content: "It is 1.",
    attempts: [
      { error: expect.stringContaining("Invalid `signature` in `thinking` block") },
      { error: expect.stringContaining("Expected `thinking`"), changes: [leftOut] },
      { error: null, changes: [leftOut, "thinking was turned off, because the turn began without it"] },
    ],
  });
  expect(server.requests.at(-1)).not.toHaveProperty("thinking");
  // The next turn thinks again.
  const three = await call({ ...request, messages: [...messages, ...behind(two), user] });
  expect(three.attempts).toMatchObject([{ error: null, changes: [leftOut] }]);
  expect(server.requests.at(-1)).toMatchObject({ thinking: { type: "enabled" } });
});

test("thinking that is missing in a message does not end thinking", async () => {
  const error = {
    status: 400,
    type: "invalid_request_error",
    message: "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
  };
  const { server, call } = await serve([{ error }, { error }, { blocks: [textBlock("Done.")] }]);
  const settings = { reasoningEffort: "high" as const };
  await expect(call(modelRequest("hi", { settings }))).rejects.toMatchObject({ reason: "rejected" });
  await call(modelRequest("hi", { settings }));
  expect(server.requests[2]?.thinking).toMatchObject({ type: "adaptive" });
});

test("a limit above the model's maximum is lowered", async () => {
  const message =
    "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku-20241022";
  const error = { status: 400, type: "invalid_request_error", message };
  const { server, call } = await serve([{ error }, { blocks: [textBlock("Done.")] }]);
  await call(modelRequest("hi", { maxOutputTokens: 32_000 }));
  await call(modelRequest("hi", { maxOutputTokens: 32_000 }));
  expect(server.requests.map((request) => request.max_tokens)).toEqual([32_000, 8_192, 8_192]);
});

test.each([
  ["streamed", { onText }],
  ["whole", {}],
])("an answer that is cut off is requested once more with a larger limit, %s", async (_name, streaming) => {
  for (const blocks of [[textBlock("Half an ans")], [thinkingBlock("So"), callBlock("look", { at: "Os" })]]) {
    const isCall = blocks.length === 2;
    const cut: MessageLine = { blocks, stop: "max_tokens" };
    // A streamed call that is whole can be executed.
    if (isCall && "onText" in streaming) continue;
    const { server, call } = await serve([cut, { blocks: [textBlock("The answer.")] }]);
    const reply = await call(modelRequest("hi", { tools, raiseLimit: async () => 32_000, ...streaming }));
    expect(reply).toMatchObject({
      content: "The answer.",
      usage: { inputTokens: 200, outputTokens: 100 },
      attempts: [{ error: expect.stringContaining("limit of 500 output tokens") }, { error: null }],
    });
    expect(server.requests.map((request) => request.max_tokens)).toEqual([500, 32_000]);
    const again = await serve([cut]);
    await expect(again.call(modelRequest("hi", { tools, ...streaming }))).rejects.toMatchObject({
      reason: "truncated",
    });
  }
});

test.each<[string, MessageLine, string, string]>([
  [
    "declined",
    { stop: "refusal", explanation: "I cannot help with that." },
    "declined",
    "I cannot help with that.",
  ],
  [
    "filtered",
    { blocks: [textBlock("Half")], stop: "refusal" },
    "declined",
    "filtered the answer (refusal): Half",
  ],
  ["empty", { blocks: [thinkingBlock("Nothing to say.")] }, "empty", "empty answer twice"],
  [
    "too long",
    {
      error: {
        status: 400,
        type: "invalid_request_error",
        message: "prompt is too long: 208656 tokens > 200000 maximum",
      },
    },
    "input_too_long",
    "208656 tokens",
  ],
  [
    "unknown",
    { error: { status: 404, type: "not_found_error", message: "model: claude-0" } },
    "unknown",
    "claude-0",
  ],
  [
    "overloaded",
    { error: { status: 529, type: "overloaded_error", message: "Overloaded" } },
    "unavailable",
    "answered 529 Overloaded",
  ],
  [
    "overloaded later",
    { failed: { type: "overloaded_error", message: "Overloaded" } },
    "unavailable",
    "answered: Overloaded",
  ],
  [
    "rejected later",
    { failed: { type: "invalid_request_error", message: "Bad input" } },
    "rejected",
    "Bad input",
  ],
  [
    "unpaid",
    { error: { status: 402, type: "billing_error", message: "Credit balance too low" } },
    "quota",
    "Credit balance",
  ],
  [
    "unpaid behind a gateway",
    { error: { status: 429, type: "api_error", code: "insufficient_balance_error", message: "Top up" } },
    "quota",
    "answered 429 Top up",
  ],
  [
    "filtered by a gateway",
    { error: { status: 500, type: "new_api_error", code: "sensitive_words_detected", message: "No" } },
    "declined",
    "answered 500 No",
  ],
])("an answer that is %s", async (_name, line, reason, message) => {
  for (const streaming of [{ onText }, {}]) {
    const { call } = await serve([line]);
    const failure = call(modelRequest("hi", streaming));
    await expect(failure).rejects.toThrow(ModelError);
    await expect(failure).rejects.toMatchObject({ reason, message: expect.stringContaining(message) });
  }
});

test("Retry-After of a rate limit is obeyed", async () => {
  const error = {
    status: 429,
    type: "rate_limit_error",
    message: "Slow down.",
    headers: { "retry-after": "7" },
  };
  const { waits, call } = await serve([{ error }, { blocks: [textBlock("Done.")] }]);
  expect((await call(modelRequest("hi", { onText }))).content).toBe("Done.");
  expect(waits).toEqual([7_000]);
});

test("a stream that breaks off is repeated, and what it brought is charged", async () => {
  const blocks = [thinkingBlock("Let me think about it."), textBlock("Half an answer")];
  const { call } = await serve([{ blocks, isCut: true }, { blocks: [textBlock("Done.")] }]);
  const reply = await call(modelRequest("hi", { onText }));
  expect(reply).toMatchObject({
    content: "Done.",
    // The first event reports the input.
    usage: { inputTokens: 200, estimated: true },
    attempts: [{ error: expect.stringContaining("ended before it was complete") }, { error: null }],
  });
  expect(reply.usage.outputTokens).toBeGreaterThan(55);
});

test.each<MessageLine>([{ isCut: true }, { failed: { type: "overloaded_error", message: "Overloaded" } }])(
  "a stream that breaks off behind its first event is charged with the input: %j",
  async (line) => {
    const { call } = await serve([line, { blocks: [textBlock("Done.")] }]);
    const { usage } = await call(modelRequest("hi", { onText }));
    expect(usage).toMatchObject({ inputTokens: 200, outputTokens: 51, estimated: true });
  },
);

test("1,000 calls become the first 128 and a summary call, which all have results later", async () => {
  const blocks = [
    thinkingBlock("Many."),
    ...Array.from({ length: 1_000 }, (_, at) => callBlock("look", { at })),
  ];
  for (const streaming of [{ onText }, {}]) {
    const { server, call } = await serve([{ blocks }, { blocks: [textBlock("Done.")] }]);
    const request = modelRequest("", { messages: [user], tools, ...streaming });
    const reply = await call(request);
    expect(reply.toolCalls).toHaveLength(129);
    expect(reply.toolCalls.at(-1)).toMatchObject({ name: "further_calls", arguments: '{"count":872}' });
    const next = await call({ ...request, messages: [user, ...behind(reply)] });
    expect([next.content, server.rejected]).toEqual(["Done.", []]);
    // The calls beyond the limit have no results, so they cannot go back. The rest is as it came.
    const back = server.requests.at(-1)?.messages[1]?.content ?? [];
    expect(back.slice(0, 129)).toEqual(blocks.slice(0, 129));
    expect(back[129]).toMatchObject({ name: "further_calls" });
  }
});

test.each([
  ["with thinking", '{"type":"thinking","thinking":"x","signature":"s"}'],
  ["without", '{"type":"text","text":"x"}'],
])("numbers that a double cannot hold keep their digits, %s", async (_name, started) => {
  const id = "8202522731445525542";
  const events = [
    '{"type":"message_start","message":{"usage":{"input_tokens":1,"output_tokens":1}}}',
    `{"type":"content_block_start","index":0,"content_block":${started}}`,
    '{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"look","input":{}}}',
    JSON.stringify({
      type: "content_block_delta",
      index: 1,
      delta: { type: "input_json_delta", partial_json: `{"id":${id}}` },
    }),
    '{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":2}}',
  ];
  const bodies: string[] = [];
  const clock = testClock();
  const provider = createProvider({
    name: "test",
    api: "anthropic",
    fetch: async (_address, init) => {
      bodies.push(String(init?.body));
      const text = events.map((event) => `data: ${event}\n\n`).join("");
      return new Response(text, { headers: { "content-type": "text/event-stream" } });
    },
    clock,
    random: () => 1,
    sleep: async () => undefined,
  });
  const request = modelRequest("", { messages: [user], tools, onText });
  const reply = await provider.call(request);
  expect(reply.toolCalls).toMatchObject([{ arguments: `{"id":${id}}` }]);
  await provider.call({ ...request, messages: [user, ...behind(reply)] });
  expect(bodies[1]).toContain(`"input":{"id":${id}}`);
});

test("a body of another interface is told", async () => {
  const clock = testClock();
  const provider = createProvider({
    name: "test",
    api: "anthropic",
    baseUrl: "http://127.0.0.1:1",
    fetch: async () => Response.json({ choices: [] }),
    clock,
    random: () => 1,
    sleep: async () => undefined,
    maxAttempts: 1,
  });
  await expect(provider.call(modelRequest("hi"))).rejects.toThrow("the answer is not a message");
});
