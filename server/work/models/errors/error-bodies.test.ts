import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createTrustedEgress } from "@/server/guard/egress/trusted-fetch";
import { createProvider } from "@/server/work/models/provider";
import { testClock } from "@/testing/clock";
import { closeServer, listen } from "@/testing/servers/listen";
import { modelRequest } from "@/testing/servers/model-server";

const egress = createTrustedEgress();
let server: Server;
let baseUrl: string;
let answers: { status: number; body: string }[] = [];
let bodies: Record<string, unknown>[] = [];
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    bodies.push(JSON.parse(Buffer.concat(chunks).toString()));
    const { status, body } = answers.shift() ?? { status: 200, body: GOOD };
    response.writeHead(status, { "content-type": "application/json" });
    response.end(body);
  });
  baseUrl = `http://127.0.0.1:${await listen(server)}/v1`;
});
afterAll(async () => {
  await egress.close();
  await closeServer(server);
});
beforeEach(() => {
  bodies = [];
  answers = [];
});
const GOOD = JSON.stringify({ choices: [{ message: { content: "{}" }, finish_reason: "stop" }] });

const clock = testClock();
const provider = () =>
  createProvider({
    name: "test",
    baseUrl,
    fetch: egress.fetch,
    clock,
    random: () => 1,
    sleep: async (ms) => void clock.advance(ms),
    maxAttempts: 1,
  });

test.each<[string, number, string, string]>([
  ["OpenAI", 400, '{"error":{"message":"Bad model.","type":"x","param":null,"code":null}}', "400 Bad model."],
  [
    "Gemini (coreply/coreply#18)",
    400,
    '[{"error":{"code":400,"message":"Please use a valid role","status":"X"}}]',
    "400 Please use a valid role",
  ],
  [
    "Mistral (appstrate/appstrate#138)",
    422,
    '{"detail":[{"type":"extra","loc":["body","seed"],"msg":"Extra inputs are not permitted"}]}',
    "422 body.seed: Extra inputs are not permitted",
  ],
  [
    "Mistral, within a message",
    422,
    '{"object":"error","message":{"detail":[{"loc":["body","n"],"msg":"Too small"}]}}',
    "422 body.n: Too small",
  ],
  ["FastAPI", 400, '{"detail":"Not now"}', "400 Not now"],
  [
    "vLLM",
    400,
    '{"object":"error","message":"No chat template","type":"BadRequestError","code":400}',
    "400 No chat template",
  ],
  ["Ollama", 400, '{"error":"does not support tools"}', "400 does not support tools"],
  [
    "OpenRouter",
    400,
    '{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\\"error\\":{\\"message\\":\\"Too hot\\"}}"}}}',
    "400 Provider returned error: Too hot",
  ],
  ["Cloudflare", 400, '{"success":false,"errors":[{"code":7000,"message":"No route"}]}', "400 No route"],
  ["plain text", 400, "Bad Request: unknown field", "400 Bad Request: unknown field"],
  [
    "a page",
    403,
    "<!doctype html><html><head><title>403 Forbidden</title></head><body><h1>x</h1></body></html>",
    "403 403 Forbidden",
  ],
  ["other JSON", 400, '{"reason":7}', '400 {"reason":7}'],
  ["200 with vLLM's error", 200, '{"object":"error","message":"Too long","code":400}', ": Too long"],
  ["200 with an array", 200, '[{"error":{"code":400,"message":"No role"}}]', ": No role"],
])("the message of %s is shown", async (_name, status, body, message) => {
  answers = [{ status, body }];
  await expect(provider().call(modelRequest("hi"))).rejects.toMatchObject({
    message: expect.stringContaining(`"test" answered${message.startsWith(":") ? "" : " "}${message}`),
  });
});

test("of a huge body only the beginning is read", async () => {
  answers = [{ status: 400, body: `Too bad. ${"x".repeat(3_000_000)}` }];
  await expect(provider().call(modelRequest("hi"))).rejects.toMatchObject({
    message: expect.stringMatching(/answered 400 Too bad\. x+$/),
  });
});

const responseSchema = { type: "object", title: "answer schema" };

test.each<[string, number, string, object]>([
  [
    "Mistral's rejection of max_completion_tokens (appstrate/appstrate#138)",
    422,
    '{"detail":[{"type":"extra_forbidden","loc":["body","max_completion_tokens"],"msg":"Extra inputs are not permitted"}]}',
    { max_tokens: 500 },
  ],
  [
    // llama_cpp/server/errors.py answers every exception, validation included, with 500.
    "llama-cpp-python's rejection of json_schema",
    500,
    `{"error":{"message":"[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \\"Input should be 'text' or 'json_object'\\"}]","type":"internal_server_error","param":null,"code":null}}`,
    { response_format: undefined },
  ],
])("%s is learned: the request is adapted, and later ones begin so", async (_name, status, body, sent) => {
  answers = [{ status, body }];
  const { call } = provider();
  await call(modelRequest("hi", { responseSchema }));
  await call(modelRequest("hi", { responseSchema }));
  expect(bodies).toHaveLength(3);
  for (const later of bodies.slice(1)) expect({ ...later, ...sent }).toEqual(later);
});
