import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { createTrustedEgress, type EgressFetch } from "@/server/guard/egress/trusted-fetch";
import { ResponseError } from "@/server/work/models/errors/replies";
import { Paces } from "@/server/work/models/pace/paces";
import type { ModelMessage, ModelRequest } from "@/server/work/models/port";
import { createProvider } from "@/server/work/models/provider";
import { testClock } from "@/testing/clock";
import { type ModelServer, modelRequest, startModelServer } from "@/testing/servers/model-server";
import { readOverflow } from "../errors/overflow";

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
const provider = (contextWindow?: number, fetch: EgressFetch = egress.fetch, paces?: Paces) =>
  createProvider({
    name: "test",
    baseUrl: server.url,
    fetch,
    ...(paces && { paces }),
    clock,
    random: () => 1,
    sleep: async (ms) => void clock.advance(ms),
    ...(contextWindow !== undefined && { limits: new Map([["tiny", { contextWindow }]]) }),
  });

// About 800 tokens in 4,000 bytes.
const output = (name: string) => `${name} `.padEnd(4_000, "word ");
function conversation(name: string, iterations: number, overrides: Partial<ModelRequest> = {}): ModelRequest {
  const messages: ModelMessage[] = [
    { role: "system", content: "You help. ".repeat(20) },
    { role: "user", content: name },
  ];
  for (let each = 1; each <= iterations; each += 1) {
    messages.push(
      {
        role: "assistant",
        content: "",
        toolCalls: [{ id: `${each}`, name: "look", arguments: "{}" }],
      },
      { role: "tool", toolCallId: `${each}`, content: output(`output-${each}`) },
    );
  }
  return modelRequest(name, { model: "tiny", messages, ...overrides });
}
const sentOutputs = () =>
  (server.requests.at(-1)?.body.messages ?? [])
    .filter(({ role }) => role === "tool")
    .map(({ content }) => String(content));
const areWhole = () => sentOutputs().map((content) => content.length === 4_000);

test("what fits is sent as it is", async () => {
  const reply = await provider(10_000).call(conversation("fits", 5));
  expect(areWhole()).toEqual([true, true, true, true, true]);
  expect(reply.attempts).toEqual([expect.not.objectContaining({ shortened: expect.anything() })]);
});

test("the oldest outputs are cut until the request fits", async () => {
  const request = conversation("cut", 5);
  const reply = await provider(3_700).call(request);
  expect(areWhole()).toEqual([false, false, true, true, true]);
  const [oldest] = sentOutputs();
  expect(oldest).toBe(`${output("output-1").slice(0, 1_000)} [shortened: 1000 of 4000 bytes]`);
  expect(reply.attempts).toMatchObject([
    {
      error: null,
      shortened: [{ before: 6, keep: 1_000 }],
      changes: ["of the functions' outputs, the oldest 2 were shortened from 8,000 to 2,064 bytes"],
    },
  ]);
  // The run's own messages are unchanged.
  expect(request.messages[3]?.content).toHaveLength(4_000);
});

test("if that is not enough, less of them is kept", async () => {
  const reply = await provider(2_600).call(conversation("less", 6));
  expect(sentOutputs().map((content) => content.length)).toEqual([131, 131, 131, 1_032, 4_000, 4_000]);
  expect(reply.attempts[0]?.shortened).toEqual([
    { before: 10, keep: 1_000 },
    { before: 8, keep: 100 },
  ]);
});

test("the system prompt, the message and the last two iterations are never cut", async () => {
  server.requests.length = 0;
  const failed = provider(1_500).call(conversation("never", 2));
  await expect(failed).rejects.toMatchObject({
    reason: "input_too_long",
    message: expect.stringMatching(
      /^The input has about 1,\d{3} tokens, and the context window of tiny has 1,500$/,
    ),
  });
  await expect(provider(1_500).call(conversation("never", 4))).rejects.toMatchObject({
    message: expect.stringMatching(/about 1,\d{3} tokens, with 2 of the functions' outputs shortened, and/),
  });
  expect(server.requests).toEqual([]);
});

test("where only the answer does not fit, its limit is lowered", async () => {
  await provider(2_500).call(conversation("answer", 1, { maxOutputTokens: 4_000 }));
  expect(areWhole()).toEqual([true]);
  const limit = server.requests.at(-1)?.body.max_completion_tokens;
  expect(limit).toBeGreaterThan(1_000);
  expect(limit).toBeLessThan(2_000);
});

test("withheld tools count if they are sent", async () => {
  const withheldTools = [{ name: "look", description: output("look"), parameters: { type: "object" } }];
  const request = conversation("withheld", 1, { withheldTools, maxOutputTokens: 4_000 });
  const { call } = provider(5_000);
  const unused = { content: "ok", usage: null };
  const message =
    "litellm.UnsupportedParamsError: Anthropic expects the `tools=` param to be passed in, if messages contain tool calls";
  server.script("withheld", [unused, { status: 400, message }, unused]);
  const counts = [await call(request), await call(request)].map(({ usage }) => usage.inputTokens);
  const limits = server.requests.slice(-3).map(({ body: { max_completion_tokens: limit } }) => limit);
  expect(counts[1]).toBeGreaterThan((counts[0] ?? 0) + 800);
  expect(limits).toEqual([4_000, 4_000, 5_000 - (counts[1] ?? 0)]);
});

test("a state counts only for the server and model that it came from", async () => {
  server.script("state", { content: "ok" });
  const origin = `test chat ${server.url} tiny`;
  for (const [from, most] of [
    [origin, 2_000],
    ["elsewhere", 4_000],
  ] as const) {
    const state = JSON.stringify({ origin: from, message: { reasoning: output("x").repeat(3) }, calls: [] });
    const request = conversation("state", 1, { maxOutputTokens: 4_000 });
    const messages = request.messages.map((each) => (each.role === "assistant" ? { ...each, state } : each));
    await provider(5_000).call({ ...request, messages });
    const sent = server.requests.at(-1)?.body;
    expect(JSON.stringify(sent?.messages).includes("reasoning")).toBe(from === origin);
    expect(sent?.max_completion_tokens).toBeLessThanOrEqual(most);
    expect(sent?.max_completion_tokens).toBeGreaterThan(most - 1_000);
  }
});

test("a window with room for less than 16 tokens of output is too small", async () => {
  const figures = await provider(100)
    .call(conversation("room", 1))
    .catch(({ message }) => /about ([\d,]+) tokens/.exec(message)?.[1]);
  const tokens = Number(String(figures).replace(",", ""));
  await expect(provider(tokens + 15).call(conversation("room", 1))).rejects.toMatchObject({
    reason: "input_too_long",
  });
  await provider(tokens + 16).call(conversation("room", 1));
  expect(server.requests.at(-1)?.body.max_completion_tokens).toBe(16);
});

const TEXTS: [string, number, string, string | undefined, number | null, number | null][] = [
  [
    "OpenAI",
    400,
    "This model's maximum context length is 4500 tokens. However, your messages resulted in 5200 tokens. Please reduce the length of the messages.",
    "context_length_exceeded",
    4_500,
    5_200,
  ],
  [
    "OpenAI, responses",
    400,
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "context_length_exceeded",
    null,
    null,
  ],
  ["Anthropic", 400, "prompt is too long: 213462 tokens > 200000 maximum", undefined, 200_000, 213_462],
  [
    "vLLM",
    400,
    "This model's maximum context length is 8192 tokens. However, your request has 9000 input tokens. Please reduce the length of the input messages.",
    undefined,
    8_192,
    9_000,
  ],
  [
    "llama.cpp",
    400,
    "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
    undefined,
    4_096,
    5_000,
  ],
  [
    "an older llama.cpp",
    500,
    "the request exceeds the available context size. try increasing the context size or enable context shift",
    undefined,
    null,
    null,
  ],
  [
    "llama-cpp-python",
    400,
    "This model's maximum context length is 512 tokens, however you requested 716 tokens (616 in your prompt; 100 for the completion). Please reduce your prompt; or completion length.",
    "context_length_exceeded",
    512,
    616,
  ],
  [
    "Gemini",
    400,
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    undefined,
    1_048_575,
    1_196_265,
  ],
  [
    "Mistral",
    400,
    "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    undefined,
    32_768,
    65_673,
  ],
  [
    "OpenRouter",
    400,
    "This endpoint's maximum context length is 131072 tokens. However, you requested about 150000 tokens (149000 of text input, 1000 in the output).",
    undefined,
    131_072,
    149_000,
  ],
  ["Groq", 400, "Please reduce the length of the messages or completion.", undefined, null, null],
  [
    "xAI",
    400,
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    undefined,
    131_072,
    537_812,
  ],
  [
    "Kimi",
    400,
    "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)",
    undefined,
    262_144,
    300_000,
  ],
  [
    "Qwen",
    400,
    "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 983616]",
    undefined,
    983_616,
    null,
  ],
  ["Bedrock", 400, "Input is too long for requested model.", undefined, null, null],
  ["MiniMax", 400, "invalid params, context window exceeds limit (2013)", undefined, null, null],
  [
    "SGLang",
    400,
    "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
    undefined,
    40_960,
    61_709,
  ],
  [
    "SGLang, with the output",
    400,
    "Requested token count exceeds the model's maximum context length of 40960 tokens. You requested a total of 45000 tokens: 41000 tokens from the input messages and 4000 tokens for the completion.",
    undefined,
    40_960,
    41_000,
  ],
  [
    // lmstudio-ai/lmstudio-bug-tracker#546
    "LM Studio",
    400,
    "Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough.",
    undefined,
    32_768,
    111_490,
  ],
  ["Ollama", 400, "prompt too long; exceeded max context length by 500 tokens", undefined, null, null],
  ["Z.ai", 400, "Prompt exceeds max length", "1261", null, null],
  [
    "TGI",
    422,
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 8000 `inputs` tokens and 500 `max_new_tokens`",
    undefined,
    8_192,
    8_000,
  ],
  [
    "TGI, the input alone",
    422,
    "Input validation error: `inputs` must have less than 4095 tokens. Given: 5000",
    undefined,
    4_095,
    5_000,
  ],
  [
    "SiliconFlow",
    400,
    "length of prompt_tokens (68957) must be less than max_seq_len (65536).",
    "20015",
    65_536,
    68_957,
  ],
  [
    "SiliconFlow, another model",
    400,
    "number of input tokens (167594) has exceeded max_prompt_tokens (163840) limit.",
    "20015",
    163_840,
    167_594,
  ],
  ["Doubao", 400, "Total tokens of image and text exceed max message tokens", undefined, null, null],
  ["413", 413, "Request Entity Too Large", undefined, null, null],
];

test.each(TEXTS)("the rejection of %s is read", (_name, status, message, code, window, input) => {
  const error = new ResponseError(`${status} ${message}`, { status, code });
  expect(readOverflow(error)).toEqual({ window, input, isLeast: false });
});

test.each([
  [429, "Rate limit reached for gpt-4 on tokens per min (TPM): Limit 10000, Used 9000, Requested 2000."],
  [429, "Request too large for gpt-4 on requests per min (RPM): Limit 3, Requested 1."],
  [400, "max_tokens is too large: 32000. This model supports at most 16384 completion tokens."],
  [400, "Bad request"],
])("%s %s is another rejection", (status, message) => {
  expect(readOverflow(new ResponseError(`${status} ${message}`, { status }))).toBeNull();
});

test.each(TEXTS.filter(([, , , , window]) => window === null || window < 10_000))(
  "after the rejection of %s the outputs are cut, and later calls begin so",
  async (name, status, message, code) => {
    server.requests.length = 0;
    server.script(name, [{ status, message, ...(code !== undefined && { code }) }, { content: "ok" }]);
    const { call } = provider();
    const first = await call(conversation(name, 5));
    expect(first.content).toBe("ok");
    expect(first.attempts).toMatchObject([
      { error: expect.stringContaining(message.slice(0, 50)) },
      { error: null, shortened: expect.anything() },
    ]);
    expect(first.attempts[0]).not.toHaveProperty("shortened");
    expect(areWhole().slice(-2)).toEqual([true, true]);
    expect(areWhole()[0]).toBe(false);
    await call(conversation("another conversation", 5));
    expect(server.requests).toHaveLength(3);
    expect(areWhole()[0]).toBe(false);
  },
);

// ggml-org/llama.cpp#23652: the requests of all share one cache.
test("if the cache of llama.cpp is full, the same request is sent again, and nothing is learned", async () => {
  server.requests.length = 0;
  server.script("shared", [{ status: 500, message: "Context size has been exceeded." }, { content: "ok" }]);
  const { call } = provider();
  for (const name of ["shared", "later"]) {
    expect((await call(conversation(name, 5))).attempts.at(-1)).toMatchObject({ error: null });
    expect(areWhole()).toEqual([true, true, true, true, true]);
  }
  expect(server.requests).toHaveLength(3);
});

type Figures = { window: number; input: number; output: number };
const VLLM: [string, (figures: Figures) => string][] = [
  // vllm-project/vllm#36197
  [
    "at least",
    ({ window, output }) =>
      `This model's maximum context length is ${window} tokens. However, you requested ${output} output tokens and your prompt contains at least ${window - output + 1} input tokens, for a total of at least ${window + 1} tokens. Please reduce the length of the input prompt or the number of requested output tokens.`,
  ],
  // vllm-project/vllm#33418
  [
    "only",
    ({ window, output }) =>
      `You passed ${window - output + 1} input tokens and requested ${output} output tokens. However, the model's context length is only ${window} tokens, resulting in a maximum input length of ${window - output} tokens. Please reduce the length of the input prompt.`,
  ],
  // vllm-project/vllm#42474
  [
    "upper bound",
    ({ window, output, input }) =>
      `This model's maximum context length is ${window} tokens. However, you requested ${output} output tokens and your prompt contains ${input * 10} characters (more than ${(window - output) * 10} characters, which is the upper bound for ${window - output} input tokens).`,
  ],
];
const body = z.object({ messages: z.unknown(), max_completion_tokens: z.number() });

/** A server that does not say how long the input is. */
function vllm(
  window: number,
  { charactersPerToken, say }: { charactersPerToken: number; say: (figures: Figures) => string },
) {
  const outputs: number[] = [];
  const fetch: EgressFetch = async (_address, init) => {
    const { messages, max_completion_tokens: output } = body.parse(JSON.parse(String(init?.body)));
    outputs.push(output);
    const input = Math.ceil(JSON.stringify(messages).length / charactersPerToken);
    return input + output > window
      ? Response.json({ error: { message: say({ window, input, output }) } }, { status: 400 })
      : Response.json({
          choices: [{ message: { content: "ok" } }],
          usage: { prompt_tokens: input, completion_tokens: 1 },
        });
  };
  return { call: provider(undefined, fetch).call, outputs };
}

// Our tokens have about five characters here.
test.each(
  VLLM.flatMap(([name, say]) =>
    [
      { charactersPerToken: 5, iterations: 2, most: 3, least: 1_000, isCut: false },
      { charactersPerToken: 3, iterations: 2, most: 4, least: 1_000, isCut: false },
      { charactersPerToken: 5, iterations: 6, most: 5, least: 900, isCut: true },
      { charactersPerToken: 3, iterations: 6, most: 8, least: 500, isCut: true },
    ].map((each) => ({ name, say, ...each })),
  ),
)(
  "vLLM names the least input ($name), at $charactersPerToken characters a token, after $iterations iterations",
  async ({ say, charactersPerToken, iterations, most, least, isCut }) => {
    const { call, outputs } = vllm(5_000, { charactersPerToken, say });
    const request = conversation("vllm", iterations, { maxOutputTokens: 4_000 });
    const { attempts } = await call(request);
    expect(outputs.length).toBeLessThanOrEqual(most);
    expect(outputs.at(-1)).toBeGreaterThanOrEqual(least);
    expect(attempts.at(-1)?.shortened !== undefined).toBe(isCut);
    const used = outputs.length;
    await call(request);
    expect(outputs).toHaveLength(used + 1);
  },
);

const MINUTE = /request too large/i;
/** A provider with a limit of tokens in a minute. */
function perMinute(limit: number, { status, countsOutput }: { status: number; countsOutput: boolean }) {
  const outputs: number[] = [];
  const fetch: EgressFetch = async (_address, init) => {
    const { messages, max_completion_tokens: output } = body.parse(JSON.parse(String(init?.body)));
    outputs.push(output);
    const requested = Math.ceil(JSON.stringify(messages).length / 5) + (countsOutput ? output : 0);
    const message = `Request too large for model \`tiny\` in organization org-1 on tokens per minute (TPM): Limit ${limit}, Requested ${requested}, please reduce your message size and try again.`;
    return requested > limit
      ? Response.json({ error: { message, type: "tokens", code: "rate_limit_exceeded" } }, { status })
      : Response.json({ choices: [{ message: { content: "ok" } }] });
  };
  const pace = new Paces({ clock, sleep: async (ms) => void clock.advance(ms) });
  return { call: provider(undefined, fetch, pace).call, outputs };
}

test.each([
  { status: 429, countsOutput: true, iterations: 2, cut: undefined, outputs: 2 },
  { status: 413, countsOutput: true, iterations: 2, cut: undefined, outputs: 2 },
  { status: 429, countsOutput: true, iterations: 6, cut: expect.anything(), outputs: 3 },
  { status: 429, countsOutput: false, iterations: 7, cut: expect.anything(), outputs: 3 },
])(
  "$iterations iterations with more tokens than a minute may have, and status $status: less output, then less input",
  async ({ status, countsOutput, iterations, cut, outputs: most }) => {
    const { call, outputs } = perMinute(5_000, { status, countsOutput });
    const request = conversation("minute", iterations, { maxOutputTokens: 4_000, organizationId: "org-1" });
    const { attempts } = await call(request);
    expect(outputs).toHaveLength(most);
    expect(attempts[0]?.error).toMatch(MINUTE);
    expect(attempts.at(-1)?.shortened).toEqual(cut);
    // It is no context window, and slows no other call.
    const { attempts: next } = await call(
      conversation("next", 1, { maxOutputTokens: 100, organizationId: "org-1" }),
    );
    expect(next).toMatchObject([{ error: null }]);
    expect(attempts.concat(next).some(({ waited }) => waited)).toBe(false);
  },
);

test("a message that no minute has room for fails at once, and a fallback model may answer", async () => {
  const { call, outputs } = perMinute(500, { status: 429, countsOutput: true });
  await expect(call(conversation("full", 1))).rejects.toMatchObject({
    reason: "input_too_long",
    fallsBack: true,
    message: expect.stringMatching(
      /the input has about [\d,]+ tokens, and the provider's limit for a minute has 500$/,
    ),
  });
  expect(outputs).toHaveLength(1);
});

test("a server whose rejections lead in a circle is called eleven times at most", async () => {
  let asked = 0;
  const { call } = provider(undefined, async (_address, init) => {
    asked += 1;
    const { max_completion_tokens: output } = body.parse(JSON.parse(String(init?.body)));
    const message = `max_tokens is too large: ${output}. This model supports at most ${output - 1} completion tokens.`;
    return Response.json({ error: { message } }, { status: 400 });
  });
  await expect(call(modelRequest("circle", { maxOutputTokens: 400 }))).rejects.toMatchObject({
    reason: "rejected",
    message: expect.stringContaining("at most 389 completion tokens"),
  });
  expect(asked).toBe(11);
});

test.each([
  // BerriAI/litellm: Bedrock, and its interface of OpenAI
  ["The maximum tokens you requested exceeds the model limit of 4096. Try again with a lower value.", 4_096],
  ["'max_tokens' (990000) exceeds model maximum (32768)", 32_768],
])("%s is the model's output limit", async (message, maximum) => {
  server.requests.length = 0;
  server.script(message, [{ status: 400, message }, { content: "ok" }]);
  const { call } = provider();
  await call(modelRequest(message, { maxOutputTokens: 990_000 }));
  await call(modelRequest("another", { maxOutputTokens: 990_000 }));
  const sent = server.requests.map(({ body: { max_completion_tokens: limit } }) => limit);
  expect(sent).toEqual([990_000, maximum, maximum]);
});

test("TGI's limit of input and output is not that of the output", async () => {
  server.requests.length = 0;
  const message =
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 6204 `inputs` tokens and 9000 `max_new_tokens`";
  server.script("tgi", [{ status: 422, message }, { content: "ok" }]);
  const { call } = provider();
  await call(modelRequest("tgi", { maxOutputTokens: 9_000 }));
  await call(modelRequest("another", { maxOutputTokens: 8_000 }));
  const sent = server.requests.map(({ body: { max_completion_tokens: limit } }) => limit);
  expect(sent.slice(0, 2)).toEqual([9_000, 1_988]);
});

test("a rejection again and again fails with the provider's words and the figures", async () => {
  server.script("always", { status: 400, message: "prompt is too long" });
  const failed = provider().call(conversation("always", 5));
  await expect(failed).rejects.toMatchObject({
    reason: "input_too_long",
    message: expect.stringMatching(/prompt is too long; the input has about [\d,]+ tokens, with 3 of the/),
  });
});

test("what a rejection taught stays with the organization: it may repeat the text of a request", async () => {
  const message = "Invalid schema: 'This model's maximum context length is 60 tokens' is not a property.";
  const shared = provider();
  server.script("hostile", { status: 400, message });
  const hostile = modelRequest("hostile", { model: "shared", organizationId: "org-1" });
  await expect(shared.call(hostile)).rejects.toMatchObject({ reason: "input_too_long" });
  server.requests.length = 0;
  const innocent = { model: "shared", maxOutputTokens: 100 };
  const reply = await shared.call(modelRequest("innocent", { ...innocent, organizationId: "org-2" }));
  expect(reply.content).toBe("ok");
  expect(server.requests).toMatchObject([{ body: { max_completion_tokens: 100 } }]);
  await shared.call(modelRequest("innocent", { ...innocent, organizationId: "org-1" }));
  expect(server.requests.at(-1)?.body.max_completion_tokens).toBeLessThan(100);
});
