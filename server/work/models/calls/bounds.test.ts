import { createServer, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import type { ModelApi } from "@/server/base/models/model-api";
import { createTrustedEgress } from "@/server/guard/egress/trusted-fetch";
import type { CallOptions } from "@/server/work/models/calls/model-call";
import { createProvider } from "@/server/work/models/provider";
import { testClock } from "@/testing/clock";
import { closeServer, listen } from "@/testing/servers/listen";
import { modelRequest } from "@/testing/servers/model-server";

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

function call(api: ModelApi, limits: Pick<CallOptions, "silenceMs" | "attemptTimeoutMs" | "fetch"> = egress) {
  asked = 0;
  const provider = createProvider({
    name: "test",
    api,
    baseUrl: `http://127.0.0.1:${port}`,
    clock: testClock(),
    random: () => 1,
    sleep: async () => undefined,
    maxAttempts: 2,
    ...limits,
  });
  return provider.call(modelRequest("hi", { onText: () => undefined }));
}

function* repeat(toChunk: (index: number) => string): Generator<string> {
  for (let index = 0; ; index += 1) yield toChunk(index);
}

async function writeForever(response: ServerResponse, begin: string, toChunk: (index: number) => string) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(begin);
  await pipeline(Readable.from(repeat(toChunk)), response).catch(() => undefined);
}

const send = (event: object) => `data: ${JSON.stringify(event)}\n\n`;
const LONG = "x".repeat(100_000);
const delta = (type: string) => () =>
  send({ type: `response.${type}.delta`, output_index: 0, content_index: 0, summary_index: 0, delta: LONG });
const start = (block: object, index = 0) =>
  send({ type: "content_block_start", index, content_block: block });
const blockDelta = (value: object) => () => send({ type: "content_block_delta", index: 0, delta: value });
const call0 = { type: "tool_use", id: "a", name: "f", input: {} };

test.each<[ModelApi, string, string, (index: number) => string, string]>([
  ["responses", "text", "", delta("output_text"), "The answer is longer"],
  ["responses", "thought", "", delta("reasoning_summary_text"), "The answer is longer"],
  ["responses", "arguments", "", delta("function_call_arguments"), "The answer is longer"],
  [
    "responses",
    "number of items",
    "",
    (index) => send({ type: "response.output_item.added", output_index: index, item: { type: "message" } }),
    "The answer is longer",
  ],
  ["responses", "event", "data: ", () => LONG, "A line of the streamed answer is longer"],
  [
    "anthropic",
    "text",
    start({ type: "text", text: "" }),
    blockDelta({ type: "text_delta", text: LONG }),
    "The answer is longer",
  ],
  [
    "anthropic",
    "thought",
    start({ type: "thinking", thinking: "" }),
    blockDelta({ type: "thinking_delta", thinking: LONG }),
    "The answer is longer",
  ],
  [
    "anthropic",
    "arguments",
    start(call0),
    blockDelta({ type: "input_json_delta", partial_json: LONG }),
    "The answer is longer",
  ],
  ["anthropic", "number of calls", "", (index) => start(call0, index), "The answer is longer"],
  ["anthropic", "event", "data: ", () => LONG, "A line of the streamed answer is longer"],
])(
  "%s: an endless %s fails the call at once with a clear error",
  async (api, _what, begin, toChunk, message) => {
    let left: Promise<unknown> | undefined;
    respond = (response) => {
      left = writeForever(response, begin, toChunk);
    };
    await expect(call(api)).rejects.toMatchObject({
      reason: "rejected",
      message: expect.stringContaining(message),
      attempts: [{}],
    });
    // The connection was closed, not left to fill up.
    await left;
    expect(asked).toBe(1);
  },
);

const hang = (response: ServerResponse) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(send({ type: "ping" }));
};

test.each<ModelApi>(["responses", "anthropic"])("%s: a reply that falls silent is repeated", async (api) => {
  respond = hang;
  await expect(call(api, { fetch: egress.fetch, silenceMs: 100 })).rejects.toMatchObject({
    reason: "unavailable",
    message: expect.stringContaining("sent nothing for 100 ms"),
    attempts: [{}, {}],
  });
});

test("a reply that takes too long in all is not repeated, but another model may answer", async () => {
  respond = hang;
  await expect(call("chat", { fetch: egress.fetch, attemptTimeoutMs: 100 })).rejects.toMatchObject({
    reason: "unavailable",
    fallsBack: true,
    message: expect.stringContaining("gave no complete answer within 100 ms"),
    attempts: [{}],
  });
});

const minutes = (count: number) => vi.advanceTimersByTimeAsync(count * 60_000);
const piece = (content: string, finish_reason: string | null = null) =>
  send({ choices: [{ index: 0, delta: { content }, finish_reason }] });

test("a stream may take longer than its longest silence", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const headers = { "content-type": "text/event-stream" };
  const reply = call("chat", { fetch: async () => new Response(readable, { headers }) });
  for (const word of ["It ", "is ", "1."]) {
    await minutes(4);
    await writer.write(Buffer.from(piece(word)));
  }
  await minutes(4);
  await writer.write(Buffer.from(piece("", "stop")));
  await writer.close();
  expect(await reply).toMatchObject({ content: "It is 1.", attempts: [{ error: null }] });
});
