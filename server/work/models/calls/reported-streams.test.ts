import { createServer, type Server } from "node:http";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createTrustedEgress } from "@/server/guard/egress/trusted-fetch";
import { createProvider } from "@/server/work/models/provider";
import { testClock } from "@/testing/clock";
import { closeServer, listen } from "@/testing/servers/listen";
import { modelRequest } from "@/testing/servers/model-server";

const egress = createTrustedEgress();
let server: Server;
let url = "";
let answers: { text: string; type?: string }[] = [];
let asked = 0;
beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume().on("end", () => {
      const answer = answers[Math.min(asked, answers.length - 1)];
      asked += 1;
      response.setHeader("content-type", answer?.type ?? "text/event-stream");
      response.end(answer?.text);
    });
  });
  url = `http://127.0.0.1:${await listen(server)}`;
});
afterAll(async () => {
  await egress.close();
  await closeServer(server);
});
afterEach(() => {
  asked = 0;
});

const tools = [{ name: "look", description: "Looks.", parameters: { type: "object" } }];
const events = (...pieces: object[]) => pieces.map((piece) => `data: ${JSON.stringify(piece)}\n\n`).join("");

function call(api: "chat" | "responses" | "anthropic", ...given: typeof answers) {
  answers = given;
  const clock = testClock();
  const { call: send } = createProvider({
    name: "test",
    api,
    apiKey: "key",
    baseUrl: url,
    fetch: egress.fetch,
    clock,
    random: () => 1,
    sleep: async (ms) => void clock.advance(ms),
    maxAttempts: 2,
  });
  return send(modelRequest("Look.", { tools, settings: { temperature: 0.2 }, onText: () => undefined }));
}

const usage = { prompt_tokens: 5, completion_tokens: 3 };
const ENDS = { finish_reason: "stop" };
const choice = (delta: object, rest: object = {}) => ({ choices: [{ index: 0, delta, ...rest }], usage });
const chat = (...pieces: object[]) => ({ text: `${events(...pieces)}data: [DONE]\n\n` });

const block = (input: object, ...deltas: string[]) => ({
  text: events(
    { type: "message_start", message: { content: [], usage: { input_tokens: 5, output_tokens: 1 } } },
    {
      type: "content_block_start",
      index: 0,
      content_block: { type: "tool_use", id: "a", name: "look", input },
    },
    ...deltas.map((text) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json: text },
    })),
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 3 } },
  ),
});

test.each([
  ["at once", block({ at: 1 }), '{"at":1}'],
  ["at once, with an empty delta", block({ at: 1 }, ""), '{"at":1}'],
  ["in deltas", block({}, '{"at"', ":1}"), '{"at":1}'],
  ["at once and in deltas", block({ at: 1 }, '{"at":1}'), '{"at":1}'],
  ["not at all", block({}, ""), "{}"],
])(
  "Anthropic's interface: the input of a call comes %s (BerriAI/litellm#25390)",
  async (_name, answer, expected) => {
    const { toolCalls } = await call("anthropic", answer);
    expect(toolCalls).toEqual([{ id: "a", name: "look", arguments: expected }]);
  },
);

test.each([
  ["only at the start", { input_tokens: 70, cache_read_input_tokens: 30 }, { output_tokens: 3 }],
  [
    "as zeros at the end",
    { input_tokens: 70, cache_read_input_tokens: 30 },
    { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 3 },
  ],
  [
    "only at the end",
    { input_tokens: 0 },
    { input_tokens: 70, cache_read_input_tokens: 30, output_tokens: 3 },
  ],
])(
  "Anthropic's interface: the tokens of the input come %s (envoyproxy/ai-gateway#1631)",
  async (_name, first, last) => {
    const text = events(
      { type: "message_start", message: { content: [], usage: { ...first, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "It is 1." } },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: last },
    );
    const { usage: read } = await call("anthropic", { text });
    expect(read).toEqual({ inputTokens: 100, cachedInputTokens: 30, outputTokens: 3, estimated: false });
  },
);

const completed = {
  type: "response.completed",
  response: { status: "completed", output: [], usage: { input_tokens: 5, output_tokens: 3 } },
};
const completedText = {
  type: "response.output_item.done",
  output_index: 0,
  item: { type: "message", id: "m", content: [{ type: "output_text", text: "Done." }] },
};
const item = { type: "function_call", id: "f", call_id: "a", name: "look", arguments: "" };
const added = { type: "response.output_item.added", output_index: 0, item };
const delta = { type: "response.function_call_arguments.delta", output_index: 0, delta: '{"at":1}' };
const whole = { type: "response.function_call_arguments.done", output_index: 0, arguments: '{"at":1}' };

test.each([
  ["without deltas", [added, whole]],
  ["behind its deltas", [added, delta, whole]],
])(
  "OpenAI's responses: the end of a call's arguments comes %s (BerriAI/litellm#27792)",
  async (_name, pieces) => {
    const { toolCalls } = await call("responses", { text: events(...pieces, completed) });
    expect(toolCalls).toEqual([{ id: "a", name: "look", arguments: '{"at":1}' }]);
  },
);

test("OpenAI's responses: a text comes only at its end", async () => {
  const message = { type: "message", id: "m", role: "assistant", content: [] };
  const text = { type: "response.output_text.done", output_index: 0, content_index: 0, text: "Done." };
  const answer = { text: events({ ...added, item: message }, text, completed) };
  expect(await call("responses", answer)).toMatchObject({ content: "Done." });
});

test("OpenAI's responses: an answer that is incomplete without details was cut off", async () => {
  const message = { type: "message", id: "m", role: "assistant", content: [] };
  const half = {
    type: "response.output_text.delta",
    output_index: 0,
    content_index: 0,
    delta: "The first ha",
  };
  const response = { ...completed.response, status: "incomplete", incomplete_details: null };
  const text = events({ ...added, item: message }, half, { type: "response.incomplete", response });
  await expect(call("responses", { text })).rejects.toMatchObject({ reason: "truncated" });
});

// The last one: anomalyco/opencode#50314.
test.each(["data:\n\n", "data: \n\n", "data\n\n", "data: null\n\n"])(
  "an empty event %j keeps the connection open",
  async (empty) => {
    const [begin, end] = [
      choice({ content: "I be" }),
      choice({ content: "gin." }, { finish_reason: "stop" }),
    ];
    const text = `${empty}${events(begin)}${empty}${events(end)}data: [DONE]\n\n`;
    expect(await call("chat", { text })).toMatchObject({ content: "I begin.", attempts: [{ error: null }] });
  },
);

test.each([
  [
    "in the choice",
    choice({}, { finish_reason: "error", error: { code: 502, message: "Provider disconnected" } }),
    "Provider disconnected",
  ],
  ["by its name only", choice({}, { finish_reason: "error" }), "the answer broke off with an error"],
])("an error %s is no answer (CherryHQ/cherry-studio#16079)", async (_name, failed, message) => {
  const answer = chat(choice({ content: "The first ha" }), failed);
  await expect(call("chat", answer)).rejects.toThrow(message);
  expect(asked).toBe(2);
});

const LIMITED = {
  code: "rate_limit_exceeded",
  message:
    "Rate limit reached for gpt-5 in organization org-1 on tokens per min (TPM): Limit 30000, Used 22999, Requested 12528. Please try again in 14.036s. Visit https://platform.openai.com/account/rate-limits to learn more.",
};
const limitedResponse = { ...completed.response, status: "failed", error: LIMITED };

// openai/codex#2266
test.each([
  [
    "responses",
    events({ type: "response.failed", response: limitedResponse }),
    events(completedText, completed),
  ],
  ["chat", events({ error: { type: "tokens", ...LIMITED } }), chat(choice({ content: "Done." }, ENDS)).text],
] as const)("%s: a rate limit within the stream waits as long as it says", async (api, limited, text) => {
  const { content, attempts } = await call(api, { text: limited }, { text });
  expect(content).toBe("Done.");
  expect(attempts).toMatchObject([
    { startedAt: "2026-01-01T00:00:00.000Z", retryAt: "2026-01-01T00:00:14.036Z" },
    { error: null },
  ]);
});

const UNSUPPORTED = {
  message: "Unsupported parameter: 'temperature' is not supported with this model.",
  param: "temperature",
  code: "unsupported_parameter",
};
const REQUEST_ERROR = { ...UNSUPPORTED, type: "invalid_request_error" };

test.each([
  ["chat", { error: REQUEST_ERROR }],
  ["chat", { error: UNSUPPORTED }],
  ["responses", { type: "error", error: REQUEST_ERROR }],
  // OpenAI's API reference, streaming events of responses, error.
  ["responses", { type: "error", ...UNSUPPORTED }],
] as const)("%s: a setting that is rejected within the stream is left out: %j", async (api, failed) => {
  const done = api === "chat" ? chat(choice({ content: "1" }, ENDS)).text : events(completedText, completed);
  const { attempts } = await call(api, { text: events(failed) }, { text: done });
  expect(attempts).toMatchObject([{ error: expect.any(String) }, { changes: ["temperature was left out"] }]);
  asked = 0;
  await expect(call(api, { text: events(failed) })).rejects.toMatchObject({ reason: "rejected" });
  expect(asked).toBe(2);
});

test.each([
  ["Hm.\n</think>\n\nIt is 1.", "It is 1.", "Hm."],
  ["<think>Hm.</think>It is 1.", "It is 1.", "Hm."],
  ["Write </think> at the end.", "Write </think> at the end.", ""],
])(
  "reasoning without its beginning is none of the answer: %j (open-webui/open-webui#9808)",
  async (text, content, reasoning) => {
    const answer = chat(choice({ content: text }), choice({}, { finish_reason: "stop" }));
    expect(await call("chat", answer)).toMatchObject({ content, reasoning });
  },
);

test.each(["look<|channel|>commentary", " look "])(
  "the name %j is that of a function (vllm-project/vllm#32587)",
  async (name) => {
    const calls = [{ index: 0, id: "a", function: { name, arguments: "{}" } }];
    const answer = chat(choice({ tool_calls: calls }), choice({}, { finish_reason: "tool_calls" }));
    expect(await call("chat", answer)).toMatchObject({ toolCalls: [{ id: "a", name: "look" }] });
  },
);

test("a stream without its type is asked for in one piece, and a page is named by its title", async () => {
  const stream = {
    ...chat(choice({ content: "It is 1." }), choice({}, { finish_reason: "stop" })),
    type: "text/plain",
  };
  const one = { message: { content: "It is 1." }, finish_reason: "stop" };
  const body = { type: "application/json", text: JSON.stringify({ choices: [one], usage }) };
  expect(await call("chat", stream, body)).toMatchObject({ content: "It is 1." });
  asked = 0;
  const page = { type: "text/html", text: "<html><head><title>Sign in</title></head></html>" };
  await expect(call("chat", page)).rejects.toThrow("the answer is not a chat completion: Sign in");
});

// anomalyco/opencode#43882
test("a stream that never says why it ended is asked for in one piece", async () => {
  const one = { message: { content: "It is 1." }, finish_reason: "stop" };
  const body = { type: "application/json", text: JSON.stringify({ choices: [one], usage }) };
  expect(await call("chat", chat(choice({ content: "It is" })), body)).toMatchObject({ content: "It is 1." });
  expect(asked).toBe(2);
});
