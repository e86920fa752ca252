import { afterAll, beforeAll, expect, test } from "vitest";
import { createTrustedEgress } from "@/server/guard/egress/trusted-fetch";
import { ModelError, type ModelRequest } from "@/server/work/models/port";
import { createProvider } from "@/server/work/models/provider";
import { testClock } from "@/testing/clock";
import { type ModelServer, modelRequest, startModelServer } from "@/testing/servers/model-server";

/** `finish_reason` and `refusal`: OpenAI's API reference, chat completions. */

const egress = createTrustedEgress();
let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(async () => {
  await egress.close();
  await server.close();
});

const clock = testClock();
const call = (request: ModelRequest) =>
  createProvider({
    name: "test",
    apiKey: undefined,
    baseUrl: server.url,
    fetch: egress.fetch,
    clock,
    random: () => 1,
    sleep: async (ms) => void clock.advance(ms),
  }).call(request);

const usage = { prompt_tokens: 10, completion_tokens: 5 };
const ends = (finish_reason: string, message: object) => ({
  body: { choices: [{ message, finish_reason }], usage },
});
const halfCall = { id: "a", function: { name: "look", arguments: '{"city":"Os' } };
const raiseLimit = async () => 32_000;
const limits = () => server.requests.map(({ body }) => body.max_completion_tokens);
const tools = [{ name: "look", description: "Looks.", parameters: { type: "object" } }];

test.each<[string, object]>([
  ["before any text", ends("length", { content: "", reasoning_content: "Let me think" })],
  ["in the middle", ends("length", { content: "Half an ans" })],
  ["inside the arguments of a call", ends("length", { content: null, tool_calls: [halfCall] })],
])("an answer cut off %s is requested once more with a larger limit", async (name, cutOff) => {
  server.requests.length = 0;
  server.script(name, [cutOff as { body: unknown }, ends("stop", { content: "The answer." })]);
  const reply = await call(modelRequest(name, { tools, raiseLimit }));
  expect(reply).toMatchObject({
    content: "The answer.",
    usage: { inputTokens: 20, outputTokens: 10 },
    attempts: [{ error: expect.stringContaining("limit of 500 output tokens") }, { error: null }],
  });
  expect(limits()).toEqual([500, 32_000]);
});

test("an answer cut off twice, or without credits for a repeat, fails with the way out", async () => {
  server.script("long", ends("length", { content: "and so on" }));
  await expect(call(modelRequest("long", { raiseLimit }))).rejects.toMatchObject({
    reason: "truncated",
    message: expect.stringMatching(/limit of 32,000 output tokens.*shorter answer/),
    received: { usage: { outputTokens: 10 } },
  });
  await expect(call(modelRequest("long", { raiseLimit: async () => 500 }))).rejects.toMatchObject({
    reason: "truncated",
    message: expect.stringMatching(/limit of 500 output tokens.*credits/),
  });
  await expect(call(modelRequest("long"))).rejects.toMatchObject({
    message: expect.stringMatching(/limit of 500 output tokens\. Raise maxOutputTokens/),
  });
});

// openai/openai-python#2886
test("an answer whose reasoning used up the limit, which is an error, is requested with a larger one", async () => {
  const message =
    "Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.";
  server.requests.length = 0;
  server.script("ran out", [{ status: 400, message }, ends("stop", { content: "The answer." })]);
  expect(await call(modelRequest("ran out", { raiseLimit }))).toMatchObject({
    content: "The answer.",
    usage: { inputTokens: 10, outputTokens: 5 },
    attempts: [{ error: expect.stringContaining("limit of 500 output tokens") }, { error: null }],
  });
  expect(limits()).toEqual([500, 32_000]);
  server.script("ran out twice", { status: 400, message });
  await expect(call(modelRequest("ran out twice", { raiseLimit }))).rejects.toMatchObject({
    reason: "truncated",
    message: expect.stringMatching(/limit of 32,000 output tokens.*shorter answer/),
    attempts: [{}, {}],
  });
});

test("a complete call is executed although the answer was cut off behind it", async () => {
  const complete = { id: "a", function: { name: "look", arguments: "{}" } };
  server.script("behind", ends("length", { content: null, tool_calls: [complete] }));
  expect(await call(modelRequest("behind", { tools }))).toMatchObject({ toolCalls: [{ name: "look" }] });
});

// The words of OpenAI, vLLM, Qwen (musistudio/claude-code-router#1327) and DeepSeek (we0-dev/we0#56) for too large a limit.
test.each([
  ["max_tokens is too large: 32000. This model supports at most 16384 completion tokens", 16_384],
  [
    "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 8192 tokens and your request has 192 input tokens (32000 > 8192 - 192).",
    8_000,
  ],
  ["<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]", 8_192],
  ["Invalid max_tokens value, the valid range of max_tokens is [1, 8193]", 8_193],
])("a rejected limit is lowered to what the model allows: %s", async (message, allowed) => {
  server.requests.length = 0;
  const name = `lowered ${allowed}`;
  const cutOff = ends("length", { content: "Half" });
  server.script(name, [cutOff, { status: 400, message }, ends("stop", { content: "Whole" })]);
  expect(await call(modelRequest(name, { raiseLimit }))).toMatchObject({ content: "Whole" });
  expect(limits()).toEqual([500, 32_000, allowed]);
});

test("a larger limit that is rejected without a figure leaves the answer cut off", async () => {
  server.script("fixed", [ends("length", { content: "Half" }), { status: 400, message: "Invalid value." }]);
  await expect(call(modelRequest("fixed", { raiseLimit }))).rejects.toMatchObject({
    reason: "truncated",
    message: expect.stringMatching(
      /^The answer was cut off at the limit of 500 output tokens.*Invalid value/,
    ),
  });
});

test.each<[string, object, string]>([
  [
    "a declined answer",
    ends("stop", { content: null, refusal: "I can't help with that." }),
    "I can't help with that.",
  ],
  ["a filtered answer", ends("content_filter", { content: "" }), "filtered the answer (content_filter)"],
  // Azure OpenAI's documentation, "Content filtering": a filtered prompt is an error.
  [
    "a filtered prompt",
    { status: 400, code: "content_filter", message: "The response was filtered due to the prompt." },
    "The response was filtered due to the prompt.",
  ],
])("%s fails with the provider's words", async (name, reply, words) => {
  server.script(name, reply as { body: unknown });
  const failed = call(modelRequest(name));
  await expect(failed).rejects.toMatchObject({ reason: "declined", message: expect.stringContaining(words) });
  await expect(failed).rejects.toBeInstanceOf(ModelError);
});

test.each([
  ["null", { content: null }],
  ["missing", {}],
  ["blank", { content: " \n" }],
])("an answer whose content is %s is requested once more, then it fails", async (name, message) => {
  server.script(`once ${name}`, [ends("stop", message), ends("stop", { content: "Now." })]);
  expect(await call(modelRequest(`once ${name}`))).toMatchObject({
    content: "Now.",
    usage: { inputTokens: 20 },
    attempts: [{ error: 'the model provider "test" gave an empty answer' }, { error: null }],
  });
  server.script(`always ${name}`, ends("stop", message));
  await expect(call(modelRequest(`always ${name}`))).rejects.toMatchObject({ reason: "empty" });
});

test.each(["tool_calls", "tool_use", "function_call", "MODEL: pause_turn"])(
  "a text that ends with %s, but without a call, is requested once more, then it fails",
  async (reason) => {
    const announced = ends(reason, { content: "I will look." });
    server.script(`once ${reason}`, [announced, ends("stop", { content: "It is 1." })]);
    const error = `the model provider "test" stopped to call a function, but sent no call (${reason})`;
    expect(await call(modelRequest(`once ${reason}`, { tools }))).toMatchObject({
      content: "It is 1.",
      usage: { inputTokens: 20 },
      attempts: [{ error }, { error: null }],
    });
    server.script(`always ${reason}`, announced);
    await expect(call(modelRequest(`always ${reason}`, { tools }))).rejects.toMatchObject({
      reason: "empty",
      message: `${error} twice`.replace("the model", "The model"),
    });
    // Without tools, there is nothing to call.
    expect(await call(modelRequest(`always ${reason}`))).toMatchObject({ content: "I will look." });
  },
);
