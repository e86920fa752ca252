import { createServer } from "node:http";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { memberOf, valueAt } from "@/server/base/json/json";
import { createTrustedEgress } from "@/server/guard/egress/trusted-fetch";
import { StreamedMessage } from "@/server/work/models/anthropic/streamed-message";
import { createProvider } from "@/server/work/models/provider";
import { StreamedResponse } from "@/server/work/models/responses/streamed-response";
import { testClock } from "@/testing/clock";
import { closeServer, listen } from "@/testing/servers/listen";
import { modelRequest } from "@/testing/servers/model-server";

const headers = { "content-type": "text/event-stream" };
const piece = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ delta, finish_reason }] })}\n\n`;
const body = `${piece({ content: "a" }).repeat(5)}${piece({}, "stop")}`;

const egress = createTrustedEgress();
const server = createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, headers).end(body));
});
const port = await listen(server);
afterAll(async () => {
  await egress.close();
  await closeServer(server);
});

test.each([
  ["the operator's client", egress.fetch],
  ["any response", async () => new Response(body, { headers })],
])("other work continues between the events of a chunk: %s", async (_name, fetch) => {
  let turn = 0;
  let counting = setImmediate(function count() {
    turn += 1;
    counting = setImmediate(count);
  });
  onTestFinished(() => clearImmediate(counting));
  const turns = new Set<number>();
  const onText = () => {
    turns.add(turn);
    // Longer than a slice of work.
    for (const start = performance.now(); performance.now() - start < 5; );
  };
  const provider = createProvider({
    name: "test",
    baseUrl: `http://127.0.0.1:${port}`,
    fetch,
    clock: testClock(),
    random: () => 1,
    sleep: async () => undefined,
  });
  expect((await provider.call(modelRequest("hi", { onText }))).content).toBe("aaaaa");
  expect(turns.size).toBe(5);
});

test("responses: parts that an item leaves out count", () => {
  const reply = new StreamedResponse(() => undefined);
  const type = "response.output_text.delta";
  expect(() => {
    for (let index = 0; index < 200; index += 1)
      reply.add({ type, output_index: index, content_index: 1_000, delta: "x" });
  }).toThrow("The answer is longer");
});

test("anthropic: a citation does not copy the earlier ones", () => {
  const reply = new StreamedMessage(() => undefined, modelRequest("hi"));
  reply.add({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
  reply.add({ type: "message_delta", delta: { stop_reason: "end_turn" } });
  const lists = ["a", "b"].map((citation) => {
    reply.add({ type: "content_block_delta", index: 0, delta: { type: "citations_delta", citation } });
    return memberOf(valueAt(memberOf(reply.toBody(), "content"), 0), "citations");
  });
  expect(lists[1]).toEqual(["a", "b"]);
  expect(lists[1]).toBe(lists[0]);
});
