import { createServer, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { afterAll, afterEach, expect, test } from "vitest";
import { createTrustedEgress } from "@/server/guard/egress/trusted-fetch";
import { FURTHER_CALLS, MAX_EVENT_LENGTH, MAX_RECORDED_CALLS } from "@/server/work/models/port";
import { createProvider } from "@/server/work/models/provider";
import { testClock } from "@/testing/clock";
import { closeServer, listen } from "@/testing/servers/listen";

const egress = createTrustedEgress();
let asked = 0;
let respond: (response: ServerResponse) => Promise<void> | void = () => undefined;
const server = createServer((request, response) => {
  asked += 1;
  request.resume().on("end", () => void respond(response));
});
const port = await listen(server);
afterAll(async () => {
  await egress.close();
  await closeServer(server);
});
afterEach(() => {
  asked = 0;
});

function call({ isStream = true } = {}) {
  const provider = createProvider({
    name: "test",
    baseUrl: `http://127.0.0.1:${port}/v1`,
    fetch: egress.fetch,
    clock: testClock(),
    random: () => 1,
    sleep: async () => undefined,
  });
  return provider.call({
    model: "m",
    messages: [{ role: "user", content: "hi" }],
    tools: [],
    maxOutputTokens: 100,
    signal: new AbortController().signal,
    ...(isStream && { onText: () => undefined }),
  });
}

function* repeat(chunk: string): Generator<string> {
  for (;;) yield chunk;
}

async function writeForever(response: ServerResponse, chunk: string): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  await pipeline(Readable.from(repeat(chunk)), response).catch(() => undefined);
}

const piece = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ delta, finish_reason }] })}\n\n`;

test.each([
  ["a line", `data: {"choices": "${"x".repeat(1000)}`, `A line of the streamed answer is longer`],
  ["an event", `data: ${"x".repeat(1000)}\n`, `An event of the streamed answer is longer`],
  ["a text", piece({ content: "x".repeat(100_000) }), "The answer is longer"],
  [
    "a list of parts",
    piece({ content: [{ type: "thinking", thinking: [{ type: "text", text: "x".repeat(100_000) }] }] }),
    "The answer is longer",
  ],
  [
    "a list of unknown parts",
    piece({ content: [{ type: "a", data: "x".repeat(100_000) }, { type: "b" }] }),
    "The answer is longer",
  ],
  ["a thought", piece({ reasoning_content: "x".repeat(100_000) }), "The answer is longer"],
  [
    "a call's arguments",
    piece({ tool_calls: [{ index: 0, function: { name: "f", arguments: "x".repeat(100_000) } }] }),
    "The answer is longer",
  ],
])("an endless %s fails the call at once with a clear error", async (_name, chunk, message) => {
  let left: Promise<unknown> | undefined;
  respond = (response) => {
    left = writeForever(response, chunk);
  };
  await expect(call()).rejects.toMatchObject({
    name: "ModelError",
    reason: "rejected",
    message: expect.stringContaining(message),
    attempts: [{}],
  });
  // The connection was closed, not left to fill up.
  await left;
  expect(asked).toBe(1);
});

test("endless comments fail the call too", async () => {
  respond = (response) => writeForever(response, `: ${"x".repeat(1_000_000)}\n`);
  await expect(call()).rejects.toThrow("larger than 64 MiB");
});

test("a long event that ends is read", async () => {
  const content = "é".repeat(MAX_EVENT_LENGTH / 2);
  respond = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(piece({ content }, "stop"));
  };
  expect((await call()).content).toBe(content);
});

test.each([
  ["a stream", true],
  ["a whole answer", false],
])("10,000 calls in %s become the first 128 and a summary call", async (_name, isStream) => {
  const calls = Array.from({ length: 10_000 }, (_, index) => ({
    index,
    id: `c-${index}`,
    function: { name: "weather", arguments: `{"city":${index}}` },
  }));
  respond = (response) => {
    if (isStream) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const { function: called, ...rest } of calls) {
        response.write(piece({ tool_calls: [{ ...rest, function: { ...called, arguments: "" } }] }));
      }
      for (const { index, function: called } of calls) {
        response.write(piece({ tool_calls: [{ index, function: { arguments: called.arguments } }] }));
      }
      response.end(piece({}, "tool_calls"));
    } else {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ choices: [{ message: { tool_calls: calls } }] }));
    }
  };
  const { toolCalls } = await call({ isStream });
  expect(toolCalls).toHaveLength(MAX_RECORDED_CALLS + 1);
  expect(toolCalls[MAX_RECORDED_CALLS - 1]).toEqual({
    id: "c-127",
    name: "weather",
    arguments: '{"city":127}',
  });
  expect(toolCalls.at(-1)).toMatchObject({ name: FURTHER_CALLS, arguments: '{"count":9872}' });
});
