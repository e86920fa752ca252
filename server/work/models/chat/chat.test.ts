import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTrustedEgress, type Egress } from "@/server/guard/egress/trusted-fetch";
import type { CallOptions } from "@/server/work/models/calls/model-call";
import { type Attempt, ModelError } from "@/server/work/models/port";
import { createProvider } from "@/server/work/models/provider";
import { testClock } from "@/testing/clock";
import { type ModelServer, modelRequest, startModelServer } from "@/testing/servers/model-server";

const API_KEY = "sk-test-abcdefghijklmnop";
let server: ModelServer;
let egress: Egress;

beforeEach(async () => {
  server = await startModelServer();
  egress = createTrustedEgress();
});
afterEach(async () => {
  await egress.close();
  await server.close();
});

function provider(overrides: Partial<CallOptions> = {}) {
  const waits: number[] = [];
  const clock = testClock();
  const made = createProvider({
    name: "test",
    apiKey: API_KEY,
    baseUrl: server.url,
    fetch: egress.fetch,
    clock,
    random: () => 1,
    sleep: async (ms) => {
      waits.push(ms);
      clock.advance(ms);
    },
    ...overrides,
  });
  return { ...made, waits };
}

async function failure(call: Promise<unknown>): Promise<ModelError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ModelError)) throw new Error(`expected a ModelError, got ${String(error)}`);
  return error;
}

test("sends a conversation with tools and reads text, parallel calls and usage", async () => {
  server.script("weather", {
    content: "I look.",
    calls: [
      { id: "a", name: "weather", arguments: { city: "Oslo" } },
      { id: "b", name: "weather", arguments: { city: "Rome" } },
    ],
    usage: { inputTokens: 40, outputTokens: 12 },
  });
  const reply = await provider().call(
    modelRequest("weather?", {
      tools: [
        {
          name: "weather",
          description: "Weather of a city.",
          parameters: { type: "object", required: ["city"] },
        },
      ],
    }),
  );
  expect(reply).toEqual({
    content: "I look.",
    reasoning: "",
    state: null,
    toolCalls: [
      { id: "a", name: "weather", arguments: '{"city":"Oslo"}' },
      { id: "b", name: "weather", arguments: '{"city":"Rome"}' },
    ],
    finishReason: "tool_calls",
    usage: { inputTokens: 40, outputTokens: 12, estimated: false },
    provider: "test",
    attempts: [
      {
        startedAt: "2026-01-01T00:00:00.000Z",
        durationMs: 0,
        error: null,
        usage: '{"prompt_tokens":40,"completion_tokens":12,"total_tokens":52}',
      },
    ],
  });
  const [request] = server.requests;
  expect(request?.headers.authorization).toBe(`Bearer ${API_KEY}`);
  expect(request?.body).toEqual({
    model: "gpt-test",
    messages: [{ role: "user", content: "weather?" }],
    tools: [
      {
        type: "function",
        function: {
          name: "weather",
          description: "Weather of a city.",
          parameters: { type: "object", properties: {}, required: ["city"] },
        },
      },
    ],
    tool_choice: "auto",
    max_completion_tokens: 500,
    stream: false,
  });
});

test("sends a conversation in a form that every server accepts", async () => {
  await provider().call(
    modelRequest("x", {
      messages: [
        { role: "system", content: "s" },
        { role: "user", content: "u" },
        {
          role: "assistant",
          content: "",
          toolCalls: [
            { id: "1", name: "bad name!", arguments: "{not json" },
            { id: "2", name: "good", arguments: '{"a":1}' },
          ],
        },
        { role: "tool", toolCallId: "1", content: '{"error":"x"}' },
        { role: "tool", toolCallId: "2", content: "2" },
      ],
    }),
  );
  expect(server.requests[0]?.body.messages.slice(2)).toEqual([
    {
      role: "assistant",
      content: "",
      tool_calls: [
        { id: "1", type: "function", function: { name: "bad_name_", arguments: "{}" } },
        { id: "2", type: "function", function: { name: "good", arguments: '{"a":1}' } },
      ],
    },
    { role: "tool", tool_call_id: "1", content: '{"error":"x"}' },
    { role: "tool", tool_call_id: "2", content: "2" },
  ]);
});

describe("odd and hostile answers", () => {
  const message = (fields: object, rest: object = {}) => ({
    body: { choices: [{ message: fields }], ...rest },
  });

  test.each<[string, unknown, object]>([
    [
      "content in parts",
      { content: [{ type: "text", text: "a" }, { type: "x" }, { type: "text", text: "b" }] },
      { content: "ab" },
    ],
    ["U+0000", { content: "a\u0000b" }, { content: "a\ufffdb" }],
    [
      "calls without ids, with arguments as an object, and broken ones",
      {
        tool_calls: [
          { function: { name: "f", arguments: { a: 1 } } },
          { id: "", function: { name: "g", arguments: null } },
          { id: "call_1", function: { name: "h", arguments: "{}" } },
          { id: "x", function: { arguments: "{}" } },
          "nonsense",
        ],
      },
      {
        toolCalls: [
          { id: "call_1", name: "f", arguments: '{"a":1}' },
          { id: "call_2", name: "g", arguments: "" },
          { id: "call_3", name: "h", arguments: "{}" },
          {
            name: "unreadable_call",
            arguments: expect.stringContaining('"problem":"it has no name"'),
          },
          { name: "unreadable_call", arguments: '{"problem":"it has no function","call":"nonsense"}' },
        ],
      },
    ],
    [
      "the older form of a call",
      { function_call: { name: "f", arguments: "{}" } },
      { toolCalls: [{ id: "call_1", name: "f", arguments: "{}" }] },
    ],
  ])("%s", async (_name, fields, expected) => {
    server.script("hi", message(fields as object));
    expect(await provider().call(modelRequest("hi"))).toMatchObject(expected);
  });

  test.each<[string, object]>([
    ["no usage", {}],
    ["usage of nothing", { usage: { prompt_tokens: 0, completion_tokens: 0 } }],
    ["usage that is nonsense", { usage: { prompt_tokens: -5, completion_tokens: "x" } }],
    ["usage beyond belief", { usage: { prompt_tokens: 1e15, completion_tokens: 1 } }],
  ])("%s is replaced by our own count", async (_name, rest) => {
    server.script("hi", message({ content: "hello there" }, rest));
    const { usage } = await provider().call(modelRequest("hi"));
    expect(usage.estimated).toBe(true);
    expect(usage.inputTokens).toBeGreaterThan(5);
    expect(usage.outputTokens).toBeGreaterThan(1);
  });

  test("an invalid completion is retried, then fails as temporary", async () => {
    server.script("hi", { body: { nonsense: true } });
    const error = await failure(provider({ maxAttempts: 2 }).call(modelRequest("hi")));
    expect(error).toMatchObject({
      reason: "unavailable",
      message: expect.stringContaining("not a chat completion"),
    });
    expect(error.attempts).toHaveLength(2);
  });

  test("an error with a success status is an error", async () => {
    server.script("hi", [{ body: { error: { message: "slow down", code: 429 } } }, { content: "ok" }]);
    expect((await provider().call(modelRequest("hi"))).content).toBe("ok");
    server.script("no", { body: { error: { message: "no such model", code: 404 } } });
    expect(await failure(provider().call(modelRequest("no")))).toMatchObject({ reason: "unknown" });
  });
});

describe("temporary errors", () => {
  test("are retried with growing waits, and every attempt is reported before its wait", async () => {
    server.script("hi", [
      { status: 500 },
      { fault: "drop" },
      { fault: "broken" },
      { status: 429 },
      { content: "at last" },
    ]);
    const { call, waits } = provider();
    const reported: (string | undefined)[] = [];
    const onRetry = async (attempts: Attempt[]) => {
      expect(attempts).toHaveLength(waits.length + 1);
      reported.push(attempts.at(-1)?.retryAt);
    };
    const reply = await call(modelRequest("hi", { onRetry }));
    expect(reply.content).toBe("at last");
    expect(waits).toEqual([500, 1000, 2000, 4000]);
    expect(reported).toEqual(reply.attempts.slice(1).map((attempt) => attempt.startedAt));
    expect(reply.attempts.map((attempt) => attempt.error)).toEqual([
      expect.stringContaining("answered 500 scripted failure"),
      expect.stringContaining("could not be reached"),
      expect.stringMatching(/could not be reached|not a chat completion/),
      expect.stringContaining("answered 429"),
      null,
    ]);
    expect(reply.attempts.map((attempt) => attempt.startedAt)).toEqual([
      "2026-01-01T00:00:00.000Z",
      "2026-01-01T00:00:00.500Z",
      "2026-01-01T00:00:01.500Z",
      "2026-01-01T00:00:03.500Z",
      "2026-01-01T00:00:07.500Z",
    ]);
  });

  test("end as a temporary ModelError after five attempts", async () => {
    server.script("hi", { status: 503, message: "overloaded" });
    const error = await failure(provider().call(modelRequest("hi")));
    expect(error).toMatchObject({
      reason: "unavailable",
      message: 'The model provider "test" answered 503 overloaded',
    });
    expect(error.attempts).toHaveLength(5);
  });

  test("respects Retry-After up to a minute", async () => {
    server.script("hi", [{ status: 429, retryAfter: 7 }, { content: "ok" }]);
    const patient = provider();
    await patient.call(modelRequest("hi"));
    expect(patient.waits).toEqual([7000]);
    server.script("long", { status: 429, retryAfter: 3600 });
    const impatient = provider();
    expect(await failure(impatient.call(modelRequest("long")))).toMatchObject({ reason: "unavailable" });
    expect(impatient.waits).toEqual([]);
  });

  test("a timeout is one", async () => {
    server.script("hi", [{ fault: "hang" }, { content: "ok" }]);
    const reply = await provider({ silenceMs: 50 }).call(modelRequest("hi"));
    expect(reply.attempts[0]?.error).toContain('provider "test" sent nothing for 50 ms');
  });

  test("a rejected connection is one", async () => {
    await server.close();
    const error = await failure(provider({ maxAttempts: 2 }).call(modelRequest("hi")));
    expect(error).toMatchObject({
      reason: "unavailable",
      message: expect.stringContaining("the connection was refused"),
    });
    server = await startModelServer();
  });
});

test("a permanent error fails at once, with keys redacted", async () => {
  server.script("hi", {
    status: 401,
    message: `Incorrect API key provided: ${API_KEY}, or sk-other***key1.`,
  });
  const error = await failure(provider().call(modelRequest("hi")));
  expect(error).toMatchObject({
    reason: "unauthorized",
    message: 'The model provider "test" answered 401 Incorrect API key provided: [redacted], or [redacted]',
  });
  expect(JSON.stringify(error.attempts)).not.toContain(API_KEY);
  expect(server.requests).toHaveLength(1);
});

test.each([
  [401, undefined, "unauthorized"],
  [403, undefined, "unauthorized"],
  [404, undefined, "unknown"],
  [400, "model_not_found", "unknown"],
  [402, undefined, "quota"],
  [429, "insufficient_quota", "quota"],
  [413, undefined, "input_too_long"],
  [400, "context_length_exceeded", "input_too_long"],
  [400, undefined, "rejected"],
])("a rejection with %s and code %s means %s, and is not retried", async (status, code, reason) => {
  server.script("hi", { status, message: "no", ...(code === undefined ? {} : { code }) });
  const error = await failure(provider().call(modelRequest("hi")));
  expect(error).toMatchObject({ reason });
  expect(error.attempts).toHaveLength(1);
});

test("a server whose answer was longer than asked gets max_tokens, and the new limit again if it rejects that", async () => {
  server.script("hi", [
    { content: "long", usage: { inputTokens: 1, outputTokens: 501 } },
    {
      status: 400,
      message:
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    },
    { content: "ok" },
  ]);
  const { call } = provider();
  await call(modelRequest("hi"));
  await call(modelRequest("hi"));
  expect(server.requests.map(({ body }) => [body.max_completion_tokens, body.max_tokens])).toEqual([
    [500, undefined],
    [undefined, 500],
    [500, undefined],
  ]);
});

test("a server that rejects max_completion_tokens or response_format no longer gets them", async () => {
  server.script("hi", [
    { status: 400, message: "Unrecognized request argument supplied: max_completion_tokens" },
    { status: 400, message: "response_format json_schema is not supported" },
    { content: "{}" },
  ]);
  const { call, waits } = provider();
  await call(modelRequest("hi", { responseSchema: { type: "object", title: "answer schema" } }));
  const bodies = server.requests.map((request) => request.body);
  expect(bodies[0]).toHaveProperty("response_format.json_schema.schema.title", "answer schema");
  expect(bodies[1]).toHaveProperty("max_tokens", 500);
  expect(bodies[1]).not.toHaveProperty("max_completion_tokens");
  expect(bodies[2]).not.toHaveProperty("response_format");
  expect(bodies[2]?.messages[0]).toMatchObject({
    role: "system",
    content: expect.stringContaining("answer schema"),
  });
  await call(modelRequest("again"));
  expect(server.requests.at(-1)?.body).toHaveProperty("max_tokens", 500);
  expect(waits).toEqual([]);
});

test("a setting that a model rejects is left out from then on, another value of it is tried", async () => {
  server.script("hi", [
    {
      status: 400,
      message: "Unsupported value: 'temperature' does not support 0.3 with this model.",
    },
    { content: "ok" },
  ]);
  const { call, waits } = provider();
  const first = await call(modelRequest("hi", { settings: { temperature: 0.3 } }));
  expect(first.attempts.map(({ error }) => error)).toEqual([expect.stringContaining("'temperature'"), null]);
  await call(modelRequest("again", { settings: { temperature: 0.3 } }));
  await call(modelRequest("again", { settings: { temperature: 1 } }));
  expect(server.requests.map(({ body }) => body.temperature)).toEqual([0.3, undefined, undefined, 1]);
  expect(waits).toEqual([]);
});

test("a server that rejects tool_choice gets the tools without it", async () => {
  server.script("hi", [
    { status: 400, message: "Unrecognized request argument supplied: tool_choice" },
    { content: "ok" },
  ]);
  const tools = [{ name: "look", description: "Looks.", parameters: { type: "object" } }];
  await provider().call(modelRequest("hi", { tools }));
  expect(server.requests.map(({ body }) => [body.tool_choice, body.tools !== undefined])).toEqual([
    ["auto", true],
    [undefined, true],
  ]);
});

test("sends each setting by its name; options replace none of ours", async () => {
  server.script("hi", { content: "ok" });
  const tools = [{ name: "look", description: "Looks.", parameters: { type: "object" } }];
  const settings = {
    temperature: 0.3,
    topP: 0.9,
    reasoningEffort: "low",
    verbosity: "high",
    parallelToolCalls: false,
    modelOptions: { seed: 7, model: "dear", temperature: 2 },
  } as const;
  await provider().call(modelRequest("hi", { settings, tools }));
  const sent = { temperature: 0.3, top_p: 0.9, reasoning_effort: "low", verbosity: "high", seed: 7 };
  expect(server.requests[0]?.body).toMatchObject({
    ...sent,
    model: "gpt-test",
    parallel_tool_calls: false,
  });
  await provider().call(modelRequest("hi", { settings }));
  expect(server.requests[1]?.body).toMatchObject(sent);
  expect(server.requests[1]?.body).not.toHaveProperty("parallel_tool_calls");
});

test("of two settings that a model rejects together, one is left out", async () => {
  server.script("hi", [
    { status: 400, message: "`temperature` and `top_p` cannot both be specified for this model." },
    { content: "ok" },
  ]);
  await provider().call(modelRequest("hi", { settings: { temperature: 1, topP: 0.9 } }));
  expect(server.requests[1]?.body).toHaveProperty("top_p", 0.9);
  expect(server.requests[1]?.body).not.toHaveProperty("temperature");
});

test("with tools, the one system message describes the answer's schema and no format is forced", async () => {
  server.script("hi", { content: "{}" });
  const messages = [
    { role: "system" as const, content: "You help." },
    { role: "user" as const, content: "hi" },
  ];
  const tools = [{ name: "look", description: "Looks.", parameters: { type: "object" } }];
  await provider().call(modelRequest("hi", { messages, tools, responseSchema: { title: "answer schema" } }));
  const body = server.requests[0]?.body;
  expect(body).not.toHaveProperty("response_format");
  expect(body?.messages).toEqual([
    { role: "system", content: expect.stringMatching(/^You help\.\n\n.*answer schema/) },
    { role: "user", content: "hi" },
  ]);
});

describe("cancelling", () => {
  test("ends a call in progress with the signal's reason", async () => {
    server.script("hi", { fault: "hang" });
    const controller = new AbortController();
    const reason = new Error("cancelled by ada");
    const call = provider().call(modelRequest("hi", { signal: controller.signal }));
    await expect.poll(() => server.requests.length).toBe(1);
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
  });

  test("ends a wait between attempts, and a call before it began", async () => {
    server.script("hi", { status: 500 });
    const controller = new AbortController();
    const reason = new Error("cancelled by ada");
    const { call } = provider({
      sleep: async (_ms, signal) => {
        controller.abort(reason);
        signal.throwIfAborted();
      },
    });
    await expect(call(modelRequest("hi", { signal: controller.signal }))).rejects.toBe(reason);
    await expect(call(modelRequest("hi", { signal: controller.signal }))).rejects.toBe(reason);
    expect(server.requests).toHaveLength(1);
  });
});
