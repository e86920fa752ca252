import { afterAll, beforeAll, expect, test } from "vitest";
import { createTrustedEgress } from "@/server/guard/egress/trusted-fetch";
import type { ModelMessage, ModelRequest } from "@/server/work/models/port";
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

const clock = testClock();
const provider = () =>
  createProvider({
    name: "test",
    baseUrl: server.url,
    fetch: egress.fetch,
    clock,
    random: () => 1,
    sleep: async (ms) => void clock.advance(ms),
  });

const tool = { name: "look", description: "Looks.", parameters: { type: "object" } };
const withResult: ModelMessage[] = [
  { role: "user", content: "results" },
  { role: "assistant", content: "", toolCalls: [{ id: "a", name: "look", arguments: "{}" }] },
  { role: "tool", toolCallId: "a", content: "1" },
];

test.each<[string, string, Partial<ModelRequest>]>([
  [
    "Unsupported value: 'temperature' does not support 0.3 with this model.",
    "temperature was left out",
    { settings: { temperature: 0.3 } },
  ],
  ["seed: Extra inputs are not permitted", "seed was left out", { settings: { modelOptions: { seed: 7 } } }],
  [
    "Unrecognized request argument supplied: max_completion_tokens",
    "max_tokens was sent instead of max_completion_tokens",
    {},
  ],
  [
    "response_format json_schema is not supported",
    "the schema of the answer was described in the system message",
    { responseSchema: { type: "object" } },
  ],
  ["stream is not supported", "the answer was requested in one piece", { onText: () => undefined }],
  [
    "parameter.enable_thinking must be set to false for non-streaming calls",
    "the answer was streamed, because the model answers only so",
    {},
  ],
  [
    "Requests with results of calls need the `tools=` param.",
    "the tools were sent with tool_choice: none",
    { messages: withResult, withheldTools: [tool] },
  ],
  [
    "max_completion_tokens is too large: 500. This model supports at most 200 completion tokens.",
    "the output was limited to 200 tokens",
    {},
  ],
])("%s", async (message, change, overrides) => {
  const asked = modelRequest(message, overrides);
  const [user] = asked.messages.filter(({ role }) => role === "user");
  server.script(user?.content ?? "", [{ status: 400, message }, { content: "{}" }]);
  const { call } = provider();
  const first = await call(asked);
  expect(first.attempts).toMatchObject([
    { error: expect.stringContaining(message) },
    { error: null, changes: [change] },
  ]);
  expect(first.attempts[0]).not.toHaveProperty("changes");
  const second = await call(asked);
  expect(second.attempts).toMatchObject([{ error: null, changes: [change] }]);
  // A request without the setting has no such change.
  const other = await call(modelRequest("another", { maxOutputTokens: 100 }));
  const always = /^max_tokens|was streamed/.test(change) ? [change] : undefined;
  expect(other.attempts.map(({ changes }) => changes)).toEqual([always]);
});

test.each<[string, string, object]>([
  [
    // vercel/ai#14612
    "ValidationException: messages: text content blocks must be non-empty",
    "null was sent as the text of messages that only call",
    { role: "assistant", content: null },
  ],
  [
    // ollama/ollama#14214
    "* GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.",
    "results were sent with the names of their functions",
    { role: "tool", content: "1", name: "look" },
  ],
])("a conversation with results, rejected with: %s", async (message, change, sent) => {
  server.script(change, { content: "ok" }, [{ status: 400, message }, { content: "ok" }]);
  const messages: ModelMessage[] = [{ role: "user", content: change }, ...withResult.slice(1)];
  const { attempts } = await provider().call(modelRequest("", { messages, tools: [tool] }));
  expect(attempts).toMatchObject([{ error: expect.any(String) }, { error: null, changes: [change] }]);
  expect(server.requests.at(-1)?.body.messages).toContainEqual(expect.objectContaining(sent));
});
