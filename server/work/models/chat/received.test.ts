import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTrustedEgress } from "@/server/guard/egress/trusted-fetch";
import type { CallOptions } from "@/server/work/models/calls/model-call";
import { ModelCallStopped, ModelError, type ModelRequest } from "@/server/work/models/port";
import { createProvider } from "@/server/work/models/provider";
import { countRequestTokens, countUsage } from "@/server/work/models/tokens/tokens";
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

function provider(overrides: Partial<CallOptions> = {}) {
  return createProvider({
    name: "test",
    apiKey: "sk-test",
    baseUrl: server.url,
    fetch: egress.fetch,
    clock: testClock(),
    random: () => 1,
    sleep: async () => undefined,
    maxAttempts: 2,
    ...overrides,
  });
}

const ask = (content: string, overrides: Partial<ModelRequest> = {}) =>
  modelRequest(content, { onText: () => undefined, ...overrides });

const piece = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ delta, finish_reason }],
});
const begins = piece({ content: "I begin to answer" });
const complete = [
  piece({ content: "Done." }, "stop"),
  { usage: { prompt_tokens: 100, completion_tokens: 7 } },
];

const countReply = async (content: string) =>
  (await countUsage({ messages: [], tools: [] }, { content, reasoning: "", toolCalls: [] })).outputTokens;

async function thrown(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test("a call cancelled in progress reports what was received, counted with the tokenizer", async () => {
  const controller = new AbortController();
  const reason = new Error("cancelled by ada");
  const onText = (readText: () => string) => readText().length > 20 && controller.abort(reason);
  const pieces = ["I look at", " the map of Oslo", " now."];
  server.script("cancelled", { pieces, beforeLast: new Promise(() => undefined) });
  const request = ask("cancelled", { signal: controller.signal, onText });
  const error = await thrown(provider().call(request));
  expect(error).toBeInstanceOf(ModelCallStopped);
  expect(error).toMatchObject({
    cause: reason,
    attempts: [{ error: "stopped" }],
    received: {
      content: "I look at the map of Oslo",
      usage: {
        inputTokens: await countRequestTokens(request),
        outputTokens: await countReply("I look at the map of Oslo"),
        estimated: true,
      },
    },
  });
});

test("reasoning and the arguments of calls count as received", async () => {
  const thought = "First I think about the weather in Oslo. ".repeat(20);
  const text = '{"city":"Oslo, Norway","days":14}';
  const events = [
    piece({ reasoning_content: thought }),
    piece({ tool_calls: [{ index: 0, id: "a", function: { name: "weather", arguments: text } }] }),
  ];
  server.script("thinks", { events, isCut: true });
  const error = await thrown(provider({ maxAttempts: 1 }).call(ask("thinks")));
  const least = (await countReply(thought)) + (await countReply(text)) - 2;
  if (!(error instanceof ModelError)) throw new Error("expected a ModelError");
  expect(error.received?.content).toBe("");
  expect(error.received?.usage.outputTokens).toBeGreaterThanOrEqual(least);
  expect(error.received?.usage.outputTokens).toBeLessThan(least + 10);
});

describe("an attempt that broke off", () => {
  test("is included in the usage of a later attempt", async () => {
    server.script("later", [{ events: [begins], isCut: true }, { events: complete }]);
    const request = ask("later");
    const reply = await provider().call(request);
    expect(reply).toMatchObject({
      content: "Done.",
      usage: {
        inputTokens: 100 + (await countRequestTokens(request)),
        outputTokens: 7 + (await countReply("I begin to answer")),
        estimated: true,
      },
    });
  });

  test("is included in the error of the last attempt", async () => {
    server.script("never", { events: [begins], isCut: true });
    const request = ask("never");
    const error = await thrown(provider().call(request));
    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject({
      reason: "unavailable",
      received: {
        content: "I begin to answer",
        usage: { inputTokens: 2 * (await countRequestTokens(request)), estimated: true },
      },
    });
  });

  test.each([
    ["a text", begins],
    ["no text", piece({})],
  ])("counts by the provider's figures if they were received with %s", async (name, received) => {
    const events = [{ ...received, usage: { prompt_tokens: 11, completion_tokens: 4 } }];
    server.script(`figures, ${name}`, [
      { events, isCut: true },
      { status: 400, message: "no" },
    ]);
    expect(await thrown(provider().call(ask(`figures, ${name}`)))).toMatchObject({
      reason: "rejected",
      received: { usage: { inputTokens: 11, outputTokens: 4, estimated: false } },
    });
  });

  test("counts when the call is cancelled before the next one", async () => {
    const controller = new AbortController();
    const reason = new Error("cancelled by ada");
    server.script("waits", { events: [begins], isCut: true });
    const sleep = async () => {
      controller.abort(reason);
      throw reason;
    };
    const error = await thrown(provider({ sleep }).call(ask("waits", { signal: controller.signal })));
    expect(error).toBeInstanceOf(ModelCallStopped);
    expect(error).toMatchObject({ cause: reason, received: { content: "I begin to answer" } });
  });
});

test("a call that ended before any output has received nothing", async () => {
  server.script("fails", { status: 500 });
  expect(await thrown(provider().call(ask("fails")))).toMatchObject({ received: null });
  const controller = new AbortController();
  const reason = new Error("cancelled by ada");
  server.script("hangs", { fault: "hang" });
  const asked = server.requests.length;
  const call = thrown(provider().call(ask("hangs", { signal: controller.signal })));
  await expect.poll(() => server.requests.length).toBe(asked + 1);
  controller.abort(reason);
  expect(await call).toBe(reason);
});

test("calls leave no listeners on a longer-lived signal", async () => {
  const controller = new AbortController();
  let listeners = 0;
  const { addEventListener, removeEventListener } = controller.signal;
  const signal = Object.assign(controller.signal, {
    addEventListener(...args: Parameters<typeof addEventListener>) {
      listeners += 1;
      addEventListener.apply(controller.signal, args);
    },
    removeEventListener(...args: Parameters<typeof removeEventListener>) {
      listeners -= 1;
      removeEventListener.apply(controller.signal, args);
    },
  });
  server.script("fine", { content: "ok" });
  for (let i = 0; i < 3; i += 1) await provider().call(ask("fine", { signal }));
  expect(listeners).toBe(0);
});
