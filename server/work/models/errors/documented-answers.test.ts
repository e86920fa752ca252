import { afterAll, describe, expect, test } from "vitest";
import { createTrustedEgress } from "@/server/guard/egress/trusted-fetch";
import { createProvider } from "@/server/work/models/provider";
import { testClock } from "@/testing/clock";
import { serveFetch } from "@/testing/servers/fetch-server";
import { modelRequest } from "@/testing/servers/model-server";

/** Answers that single providers document or send, each at its first call; later calls are answered. */

const { fetch, close } = createTrustedEgress();
afterAll(() => close());
const usage = { prompt_tokens: 10, completion_tokens: 5 };
const ends = (finish_reason: string, content: string | null = "Half an ans") => ({
  choices: [{ index: 0, message: { role: "assistant", content }, finish_reason }],
  usage,
});
type Answer = { status?: number; body: object };

async function call({ status = 200, body }: Answer, isStreamed: boolean) {
  let calls = 0;
  const server = await serveFetch(async () => {
    calls += 1;
    if (calls > 1) return Response.json(ends("stop", "The answer."));
    if (status !== 200 || !isStreamed) return Response.json(body, { status });
    const { message, ...choice } = ends("", null).choices[0] ?? {};
    const [given] = (body as ReturnType<typeof ends>).choices;
    const events = [
      { choices: [{ ...choice, delta: given?.message ?? message, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason: given?.finish_reason }] },
      { choices: [], usage },
    ];
    const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    return new Response(`${text}data: [DONE]\n\n`, { headers: { "content-type": "text/event-stream" } });
  });
  const clock = testClock();
  const waits: number[] = [];
  const sleep = async (ms: number) => {
    waits.push(ms);
    clock.advance(ms);
  };
  const options = { name: "test", baseUrl: `${server.origin}/v1`, fetch, clock, random: () => 1, sleep };
  const request = modelRequest("Hello.", isStreamed ? { onText: () => undefined } : {});
  const outcome = await createProvider(options)
    .call(request)
    .then(
      ({ content, usage: { outputTokens } }) => ({ content, outputTokens }),
      ({ reason, fallsBack, message }: { reason: string; fallsBack: boolean; message: string }) => ({
        reason,
        fallsBack,
        message,
      }),
    )
    .finally(() => server.close());
  return { outcome, calls, waits };
}

describe.each([
  ["in one piece", false],
  ["streamed", true],
] as const)("%s", (_way, isStreamed) => {
  // DeepSeek's API reference; Z.ai's (promptfoo/promptfoo#9905); Gemini's (googleapis/python-genai#1836).
  test.each(["insufficient_system_resource", "network_error", "MALFORMED_FUNCTION_CALL"])(
    "an answer that broke off with %s is repeated, and charged",
    async (reason) => {
      const { outcome, calls } = await call({ body: ends(reason) }, isStreamed);
      expect(outcome).toMatchObject({ content: "The answer." });
      expect(calls).toBe(2);
    },
  );

  // Z.ai's API reference; Gemini's (HKUDS/Vibe-Trading#308).
  test.each(["sensitive", "RECITATION", "IMAGE_SAFETY", "content_filter: PROHIBITED_CONTENT"])(
    "an answer that ends with %s was filtered",
    async (reason) => {
      const { outcome, calls } = await call({ body: ends(reason, "") }, isStreamed);
      expect(outcome).toMatchObject({ reason: "declined", message: expect.stringContaining(reason) });
      expect(calls).toBe(1);
    },
  );
});

test.each<[string, Answer]>([
  // MoonshotAI/kimi-cli#1002
  [
    "Kimi",
    {
      status: 400,
      body: { error: { code: 400, message: "high risk", param: "prompt", type: "content_filter" } },
    },
  ],
  // deepseek-ai/awesome-deepseek-integration#13
  [
    "DeepSeek",
    {
      status: 400,
      body: { error: { message: "Content Exists Risk", type: "invalid_request_error", param: null } },
    },
  ],
  // Qwen's list of error codes
  [
    "Qwen",
    {
      status: 400,
      body: { error: { code: "data_inspection_failed", message: "Input may be inappropriate." } },
    },
  ],
  // langchain4j/langchain4j#1079
  ["xAI", { status: 403, body: { code: "403", error: "Content violates usage guidelines." } }],
  ["Z.ai", { status: 400, body: { error: { code: "1301", message: "不安全或敏感内容" } } }],
  // OpenRouter's documentation of errors, moderation
  [
    "OpenRouter",
    {
      status: 403,
      body: { error: { code: 403, message: "Flagged.", metadata: { reasons: ["x"], flagged_input: "y" } } },
    },
  ],
  // anthropics/claude-code#58367
  [
    "Anthropic",
    {
      status: 400,
      body: {
        type: "error",
        error: { type: "invalid_request_error", message: "Output blocked by content filtering policy" },
      },
    },
  ],
  // BerriAI/litellm#16231
  [
    "LiteLLM",
    {
      status: 400,
      body: {
        error: {
          message:
            "litellm.BadRequestError: litellm.ContentPolicyViolationError: AzureException - The response was filtered",
          type: null,
          param: null,
          code: "400",
        },
      },
    },
  ],
  ["new-api", { status: 500, body: { error: { message: "…", code: "sensitive_words_detected" } } }],
])("a request that %s filters is declined", async (_name, answer) => {
  const { outcome, calls } = await call(answer, false);
  expect(outcome).toMatchObject({ reason: "declined", fallsBack: false });
  expect(calls).toBe(1);
});

// Kimi's documentation of errors; MiniMax in modelscope/modelscope#1691; servers like Cerebras with an empty code.
test.each([
  { type: "exceeded_current_quota_error" },
  { type: "insufficient_balance_error" },
  { type: "insufficient_quota", code: "" },
])("a 429 with %o is a used up quota, which no wait renews", async (error) => {
  const body = { error: { message: "Please check your billing.", ...error } };
  const { outcome, calls } = await call({ status: 429, body }, false);
  expect(outcome).toMatchObject({ reason: "quota", fallsBack: false });
  expect(calls).toBe(1);
});

// vercel/ai#18627
test("the wait that Gemini asks for in the body of a 429 is waited", async () => {
  const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "45.837906927s" }];
  const body = [{ error: { code: 429, message: "Quota.", status: "RESOURCE_EXHAUSTED", details } }];
  const { outcome, waits } = await call({ status: 429, body }, false);
  expect(outcome).toMatchObject({ content: "The answer." });
  expect(waits).toEqual([45_838]);
});

// openai/codex#2266, and Azure's and Gemini's words.
test.each([
  [
    "Rate limit reached for gpt-5 on tokens per min (TPM): Limit 1. Please try again in 14.036s. Visit …",
    14_036,
  ],
  ["Rate limit reached for requests. Please try again in 890ms.", 890],
  ["Please retry after 26 seconds. To increase your limits, …", 26_000],
  ["You exceeded your current quota. Please retry in 45.837906927s.", 45_838],
])("the wait that only the text of a 429 names is waited: %s", async (message, wait) => {
  const body = { error: { message, type: "tokens", param: null, code: "rate_limit_exceeded" } };
  const { outcome, waits } = await call({ status: 429, body }, false);
  expect(outcome).toMatchObject({ content: "The answer." });
  expect(waits).toEqual([wait]);
});

test("a text of another error names no wait", async () => {
  const body = { error: { message: "Cannot parse: try again in 5 minutes.", code: "tool_use_failed" } };
  const { outcome, waits } = await call({ status: 400, body }, false);
  expect(outcome).toMatchObject({ content: "The answer." });
  expect(waits).toEqual([500]);
});

// https://console.groq.com/docs/flex-processing
test("Groq's 498 is retried, but calls no other model", async () => {
  const body = { error: { message: "capacity exceeded", code: "capacity_exceeded" } };
  const { outcome, calls } = await call({ status: 498, body }, false);
  expect(outcome).toMatchObject({ content: "The answer." });
  expect(calls).toBe(2);
});

// Anthropic's documentation of stop reasons; Z.ai's API reference.
test("an answer that fills the context window is not repeated, and the message names the way out", async () => {
  const { outcome, calls } = await call({ body: ends("model_context_window_exceeded") }, false);
  const message = expect.stringMatching(/context window is full\. Shorten .* larger window$/);
  expect(outcome).toMatchObject({ reason: "truncated", fallsBack: false, message });
  expect(calls).toBe(1);
});

test.each([
  [400, "Your credit balance is too low to access the Anthropic API."],
  [403, "Your team has either used all available credits or reached its monthly spending limit."],
  [429, "Your team has either used all available credits or reached its monthly spending limit."],
])("a %s that names used up credit is a used up quota: %s", async (status, message) => {
  const { outcome, calls } = await call({ status, body: { error: { message } } }, false);
  expect(outcome).toMatchObject({ reason: "quota", fallsBack: false });
  expect(calls).toBe(1);
});

// MiniMax-AI/MiniMax-M2#62; the first form has status 200.
test.each<Answer>([
  { body: { choices: null, base_resp: { status_code: 1008, status_msg: "insufficient balance" } } },
  {
    status: 500,
    body: { type: "error", error: { type: "api_error", message: "insufficient balance (1008)" } },
  },
])("an account of MiniMax without credit is a used up quota", async (answer) => {
  const { outcome, calls } = await call(answer, false);
  const message = expect.stringContaining("insufficient balance");
  expect(outcome).toMatchObject({ reason: "quota", fallsBack: false, message });
  expect(calls).toBe(1);
});

// OpenRouter's documentation of errors, in a stream.
test("a request that OpenRouter filters is declined, also in a response with status 200", async () => {
  const error = { code: 403, message: "Flagged.", metadata: { reasons: ["x"], flagged_input: "y" } };
  const { outcome } = await call({ body: { error } }, false);
  expect(outcome).toMatchObject({ reason: "declined", fallsBack: false });
});
