import { afterAll, afterEach, expect, test } from "vitest";
import { createTrustedEgress } from "@/server/guard/egress/trusted-fetch";
import { ModelError, type ModelMessage, type ModelReply, type ModelRequest } from "@/server/work/models/port";
import { createProvider } from "@/server/work/models/provider";
import { testClock } from "@/testing/clock";
import {
  callItem,
  messageItem,
  type ResponseLine,
  reasoningItem,
  type StreamFlaws,
  startStrictResponses,
} from "@/testing/servers/families/strict-responses";
import { modelRequest } from "@/testing/servers/model-server";

const egress = createTrustedEgress();
let closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.map((close) => close()));
  closing = [];
});
afterAll(() => egress.close());

async function serve(lines: ResponseLine[], options: Parameters<typeof startStrictResponses>[1] = {}) {
  let asked = 0;
  const server = await startStrictResponses(() => {
    asked += 1;
    return lines[Math.min(asked, lines.length) - 1] ?? {};
  }, options);
  closing.push(server.close);
  const clock = testClock();
  const waits: number[] = [];
  const provider = createProvider({
    name: "test",
    api: "responses",
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

test.each([
  ["streamed", { onText }],
  ["whole", {}],
])("items go back as they came, %s", async (_name, streaming) => {
  const first = [reasoningItem("I have to look. 計算"), callItem("look", { at: "é" }), callItem("look", {})];
  const second = [
    reasoningItem(""),
    messageItem("Wait.", { phase: "commentary" }),
    callItem("look", { at: 2 }),
  ];
  const third = [reasoningItem("Done."), messageItem("It is 1.", { phase: "final_answer" })];
  const { server, call } = await serve([{ items: first }, { items: second }, { items: third }]);
  const request = modelRequest("", { messages: [system, user], tools, ...streaming });
  const one = await call(request);
  expect(one).toMatchObject({
    content: "",
    reasoning: "I have to look. 計算",
    toolCalls: [
      { id: first[1]?.call_id, name: "look", arguments: '{"at":"é"}' },
      { id: first[2]?.call_id, name: "look", arguments: "{}" },
    ],
    // Cached tokens are part of the input, and reasoning is part of the output.
    usage: { inputTokens: 100, outputTokens: 50, estimated: false },
  });
  const messages = [...request.messages, ...behind(one)];
  const two = await call({ ...request, messages });
  expect(two).toMatchObject({ content: "Wait.", toolCalls: [{ arguments: '{"at":2}' }] });
  const three = await call({ ...request, messages: [...messages, ...behind(two)] });
  expect(three).toMatchObject({
    content: "It is 1.",
    reasoning: "Done.",
    toolCalls: [],
    finishReason: "completed",
  });
  expect(server.rejected).toEqual([]);
  // Nothing is stored, so no item has an id that the server could find (maximhq/bifrost#6488).
  const back = server.requests[2]?.input.filter(
    ({ type }) => type !== undefined && type !== "function_call_output",
  );
  expect(back).toMatchObject(
    [...first, ...second].map(({ id: _id, status: _status, content, ...item }) =>
      content === undefined ? item : { ...item, content: [{ type: "output_text", text: "Wait." }] },
    ),
  );
  expect(back?.some((item) => "id" in item)).toBe(false);
  expect(server.requests[0]).toMatchObject({
    instructions: "Be brief.",
    input: [{ role: "user", content: "Look." }],
    store: false,
    include: ["reasoning.encrypted_content"],
    max_output_tokens: 500,
  });
});

// agentgateway/agentgateway#1455; openai/openai-agents-python#3176, whose items also share one id.
test.each<[string, StreamFlaws]>([
  ["share an index", { oneIndex: true }],
  ["share an index, and the end leaves them out", { oneIndex: true, emptyEnd: true }],
  ["share an index and an id", { oneIndex: true, oneId: true, emptyEnd: true }],
  ["come partly with the end", { callsAtEnd: true }],
])("streamed items that %s are all read", async (_name, flaws) => {
  const items = [
    reasoningItem("Two looks."),
    messageItem("I look."),
    callItem("look", { at: 1 }),
    callItem("look", { at: 2 }),
  ];
  const { call } = await serve([{ items }], { flaws });
  expect(await call(modelRequest("hi", { tools, onText }))).toMatchObject({
    content: "I look.",
    reasoning: "Two looks.",
    toolCalls: [{ arguments: '{"at":1}' }, { arguments: '{"at":2}' }],
    attempts: [{ error: null }],
  });
});

test("the text grows as it arrives, and a final answer replaces a commentary", async () => {
  const seen: string[] = [];
  const items = [
    messageItem("I begin.", { phase: "commentary" }),
    messageItem("The answer.", { phase: "final_answer" }),
  ];
  const { call } = await serve([{ items }]);
  const { content } = await call(modelRequest("hi", { onText: (readText) => seen.push(readText()) }));
  expect(content).toBe("The answer.");
  expect(seen).toEqual(
    ["I begin", "I begin.", "The ans", "The answer", "The answer."].filter((t) => seen.includes(t)),
  );
  expect(seen.at(-1)).toBe("The answer.");
});

// openai/codex#8100
test("reasoning that can no longer be verified is left out, and later reasoning goes back", async () => {
  let replies = 0;
  const { server, call } = await serve(
    [
      { items: [reasoningItem("Hm."), messageItem("I look."), callItem("look", {})] },
      { items: [reasoningItem("So."), callItem("look", { again: true })] },
      { items: [messageItem("It is 1.")] },
    ],
    { hasForgotten: () => replies === 1 },
  );
  const request = modelRequest("", { messages: [user], tools });
  const one = await call(request);
  replies = 1;
  const messages = [...request.messages, ...behind(one)];
  const two = await call({ ...request, messages });
  expect(two.attempts).toMatchObject([
    { error: expect.stringContaining("could not be verified"), retryAt: expect.any(String) },
    {
      error: null,
      changes: ["reasoning of earlier messages was left out, because the provider could not verify it"],
    },
  ]);
  expect(server.requests.at(-1)?.input).toMatchObject([
    { role: "user" },
    { role: "assistant", content: "I look." },
    { type: "function_call", call_id: one.toolCalls[0]?.id },
    { type: "function_call_output" },
  ]);
  replies = 2;
  const three = await call({ ...request, messages: [...messages, ...behind(two)] });
  expect(three).toMatchObject({ content: "It is 1.", attempts: [{ error: null }] });
  expect(server.requests.at(-1)?.input.filter(({ type }) => type === "reasoning")).toHaveLength(1);
});

test("another provider's messages, and those without items, go as text and plain calls", async () => {
  const { server, call } = await serve([{ items: [messageItem("Done.")] }]);
  const messages: ModelMessage[] = [
    user,
    {
      role: "assistant",
      content: "I look.",
      state: JSON.stringify({ origin: "elsewhere", items: [reasoningItem("")] }),
      toolCalls: [{ id: "a", name: "run tool", arguments: "{" }],
    },
    { role: "tool", toolCallId: "a", content: "1" },
    { role: "assistant", content: "It is 1.", toolCalls: [] },
    { role: "user", content: "Again." },
  ];
  expect((await call(modelRequest("", { messages }))).content).toBe("Done.");
  expect(server.requests[0]?.input).toEqual([
    { role: "user", content: "Look." },
    { role: "assistant", content: "I look." },
    { type: "function_call", call_id: "a", name: "run_tool", arguments: "{}" },
    { type: "function_call_output", call_id: "a", output: "1" },
    { role: "assistant", content: "It is 1." },
    { role: "user", content: "Again." },
  ]);
});

test("broken calls go back in a form that every server takes", async () => {
  const items = [reasoningItem("Hm."), callItem("look up", '{"at":'), callItem("x".repeat(70), "[1]")];
  const { server, call } = await serve([{ items }, { items: [messageItem("Done.")] }]);
  const request = modelRequest("", { messages: [user], tools });
  const reply = await call(request);
  expect((await call({ ...request, messages: [user, ...behind(reply)] })).content).toBe("Done.");
  expect(server.requests[1]?.input.filter(({ type }) => type === "function_call")).toMatchObject([
    { name: "look_up", arguments: "{}" },
    { name: "x".repeat(64), arguments: "{}" },
  ]);
});

test("a long id with a signature goes back to its own server only", async () => {
  const call_id = `call_1__thought__${"s/+=".repeat(250)}`;
  const items = [reasoningItem("Hm."), { ...callItem("look", {}), call_id }];
  const { server, call } = await serve([{ items }, { items: [messageItem("Done.")] }]);
  const request = modelRequest("", { messages: [user], tools });
  const reply = await call(request);
  const messages = [user, ...behind(reply)];
  for (const model of ["gpt-test", "another"]) await call({ ...request, model, messages });
  const sent = server.requests.slice(1).map(({ input }) => input.filter((item) => "call_id" in item));
  expect(sent).toMatchObject([
    [{ call_id }, { call_id }],
    [{ call_id: reply.toolCalls[0]?.id }, { call_id: reply.toolCalls[0]?.id }],
  ]);
  expect(reply.toolCalls[0]?.id).toHaveLength(37);
});

test("a call that was not executed does not go back", async () => {
  const { server, call } = await serve([
    { items: [reasoningItem("Hm."), messageItem("No JSON"), callItem("look", {})] },
    { items: [messageItem('{"a":1}')] },
  ]);
  const request = modelRequest("", { messages: [user] });
  const { content, state } = await call(request);
  await call({ ...request, messages: [user, { role: "assistant", content, state, toolCalls: [] }, user] });
  expect(server.rejected).toEqual([]);
  expect(server.requests[1]?.input.map((item) => item.type)).toEqual([
    undefined,
    "reasoning",
    "message",
    undefined,
  ]);
});

test("settings and the schema of the answer are sent by their names", async () => {
  const { server, call } = await serve([{ items: [messageItem("{}")] }]);
  const schema = { type: "object", properties: { city: { type: "string" } } };
  await call(
    modelRequest("hi", {
      tools,
      responseSchema: schema,
      settings: {
        temperature: 0.5,
        topP: 0.9,
        reasoningEffort: "low",
        verbosity: "high",
        parallelToolCalls: false,
      },
    }),
  );
  expect(server.requests[0]).toMatchObject({
    temperature: 0.5,
    top_p: 0.9,
    reasoning: { effort: "low", summary: "auto" },
    text: { verbosity: "high", format: { type: "json_schema", name: "answer", schema, strict: false } },
    parallel_tool_calls: false,
    tools: [{ type: "function", name: "look", strict: false }],
  });
});

test("a limit below the least that OpenAI takes becomes that", async () => {
  const { server, call } = await serve([{ items: [messageItem("Yes")] }]);
  expect((await call(modelRequest("hi", { maxOutputTokens: 5 }))).attempts).toHaveLength(1);
  expect(server.requests[0]?.max_output_tokens).toBe(16);
});

test("what a model rejects is left out from then on", async () => {
  const rejects = ["include", "reasoning.summary", "reasoning.effort", "temperature"];
  const { server, call } = await serve([{ items: [messageItem("Done.")] }], { rejects });
  const settings = { temperature: 1, reasoningEffort: "high" as const, verbosity: "low" as const };
  const { content, attempts } = await call(modelRequest("hi", { settings, onText }));
  expect(content).toBe("Done.");
  expect(attempts.map(({ error }) => error)).toEqual([
    expect.stringContaining("answered 400 Encrypted content is not supported with this model."),
    expect.stringContaining("'reasoning.summary'"),
    expect.stringContaining("'reasoning.effort'"),
    expect.stringContaining("'temperature'"),
    null,
  ]);
  expect((await call(modelRequest("hi", { settings, onText }))).attempts).toHaveLength(1);
  expect(server.requests.at(-1)).not.toHaveProperty("reasoning");
  expect(server.requests.at(-1)).toMatchObject({ text: { verbosity: "low" } });
});

test("an error that only says include teaches nothing", async () => {
  const error = { status: 400, body: { error: { message: "Your input must include a text.", param: null } } };
  const { server, call } = await serve([{ error }, { items: [messageItem("Done.")] }]);
  await expect(call(modelRequest("hi"))).rejects.toMatchObject({ reason: "rejected" });
  await call(modelRequest("hi"));
  expect(server.requests[1]?.include).toEqual(["reasoning.encrypted_content"]);
});

test.each([
  ["streamed", { onText }],
  ["whole", {}],
])("an answer that is cut off is requested once more with a larger limit, %s", async (_name, streaming) => {
  const cut: ResponseLine = {
    items: [reasoningItem("So"), callItem("look", '{"at":"Os')],
    incomplete: "max_output_tokens",
  };
  const { server, call } = await serve([cut, { items: [messageItem("The answer.")] }]);
  const reply = await call(modelRequest("hi", { tools, raiseLimit: async () => 32_000, ...streaming }));
  expect(reply).toMatchObject({
    content: "The answer.",
    usage: { inputTokens: 200, outputTokens: 100 },
    attempts: [{ error: expect.stringContaining("limit of 500 output tokens") }, { error: null }],
  });
  expect(server.requests.map((request) => request.max_output_tokens)).toEqual([500, 32_000]);
  const again = await serve([cut]);
  await expect(again.call(modelRequest("hi", { tools, ...streaming }))).rejects.toMatchObject({
    reason: "truncated",
  });
});

test.each<[string, ResponseLine, string, string]>([
  ["filtered", { items: [messageItem("Half")], incomplete: "content_filter" }, "declined", "content_filter"],
  [
    "declined",
    { items: [{ ...messageItem(""), content: [{ type: "refusal", refusal: "I cannot help with that." }] }] },
    "declined",
    "declined to answer: I cannot help with that.",
  ],
  ["empty", { items: [reasoningItem("Nothing to say.")] }, "empty", "empty answer twice"],
  [
    "an error of its prompt",
    { failed: { status: "failed", error: { code: "invalid_prompt", message: "Not this one." } } },
    "declined",
    "Not this one.",
  ],
  [
    "a failure",
    { failed: { status: "failed", error: { code: "server_error", message: "Try later." } } },
    "unavailable",
    "Try later.",
  ],
  [
    "out of quota",
    {
      error: {
        status: 429,
        body: { error: { message: "You exceeded your quota.", code: "insufficient_quota" } },
      },
    },
    "quota",
    "You exceeded your quota.",
  ],
  [
    "too long",
    {
      error: {
        status: 400,
        body: { error: { message: "Your input exceeds it.", code: "context_length_exceeded" } },
      },
    },
    "input_too_long",
    "Your input exceeds it.",
  ],
])("an answer that is %s", async (_name, line, reason, message) => {
  for (const streaming of [{ onText }, {}]) {
    const { call } = await serve([line]);
    const failure = call(modelRequest("hi", streaming));
    await expect(failure).rejects.toThrow(ModelError);
    await expect(failure).rejects.toMatchObject({ reason, message: expect.stringContaining(message) });
  }
});

test("Retry-After is obeyed", async () => {
  const error = { status: 429, body: { error: { message: "Slow down." } }, headers: { "retry-after": "7" } };
  const { waits, call } = await serve([{ error }, { items: [messageItem("Done.")] }]);
  expect((await call(modelRequest("hi", { onText }))).content).toBe("Done.");
  expect(waits).toEqual([7_000]);
});

test("a stream that breaks off is repeated, and what it brought is charged", async () => {
  const items = [reasoningItem("Let me think about it."), messageItem("Half an answer")];
  const { call } = await serve([{ items, isCut: true }, { items: [messageItem("Done.")] }]);
  const reply = await call(modelRequest("hi", { onText }));
  expect(reply).toMatchObject({
    content: "Done.",
    usage: { estimated: true },
    attempts: [{ error: expect.stringContaining("ended before it was complete") }, { error: null }],
  });
  expect(reply.usage.outputTokens).toBeGreaterThan(55);
});

test("a stream that fails without output is charged with what it reports", async () => {
  const failed = { status: "failed", error: { code: "server_error", message: "Try later." } };
  const { call } = await serve([{ failed }, { items: [messageItem("Done.")] }]);
  const { usage } = await call(modelRequest("hi", { onText }));
  expect(usage).toMatchObject({ inputTokens: 200, outputTokens: 100, estimated: false });
});

test("1,000 calls become the first 128 and a summary call, which all have results later", async () => {
  const items = [reasoningItem(""), ...Array.from({ length: 1_000 }, (_, at) => callItem("look", { at }))];
  for (const streaming of [{ onText }, {}]) {
    const { server, call } = await serve([{ items }, { items: [messageItem("Done.")] }]);
    const request = modelRequest("", { messages: [user], tools, ...streaming });
    const reply = await call(request);
    expect(reply.toolCalls).toHaveLength(129);
    expect(reply.toolCalls.at(-1)).toMatchObject({ name: "further_calls", arguments: '{"count":872}' });
    const next = await call({ ...request, messages: [user, ...behind(reply)] });
    expect([next.content, server.rejected]).toEqual(["Done.", []]);
  }
});

test("a server without this interface is told apart from an unknown model", async () => {
  const clock = testClock();
  const provider = createProvider({
    name: "test",
    api: "responses",
    baseUrl: "http://127.0.0.1:1/v1",
    fetch: async () => Response.json({ choices: [] }),
    clock,
    random: () => 1,
    sleep: async () => undefined,
    maxAttempts: 1,
  });
  await expect(provider.call(modelRequest("hi"))).rejects.toThrow("the answer is not a response");
});
