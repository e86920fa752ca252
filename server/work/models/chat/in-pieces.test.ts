import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTrustedEgress } from "@/server/guard/egress/trusted-fetch";
import { ModelError, type ModelRequest } from "@/server/work/models/port";
import { createProvider } from "@/server/work/models/provider";
import { testClock } from "@/testing/clock";
import { type ModelServer, modelRequest, startModelServer } from "@/testing/servers/model-server";

const egress = createTrustedEgress();
afterAll(() => egress.close());
let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
let reported: string[] = [];
beforeEach(() => {
  reported = [];
});
afterEach(() => {
  server.requests.length = 0;
});

function provider() {
  const clock = testClock();
  const sleep = async (ms: number) => void clock.advance(ms);
  const options = {
    name: "test",
    apiKey: "sk-test",
    baseUrl: server.url,
    fetch: egress.fetch,
    maxAttempts: 2,
  };
  return createProvider({ ...options, clock, random: () => 1, sleep });
}

const ask = (content: string, overrides: Partial<ModelRequest> = {}) =>
  modelRequest(content, { onText: (readText) => reported.push(readText()), ...overrides });
const askedInPieces = () => server.requests.map(({ body }) => body.stream === true);

test("a streamed reply equals one without streaming, and its text is reported as it grows", async () => {
  const calls = [
    { id: "a", name: "weather", arguments: { city: "Oslo" } },
    { id: "b", name: "weather", arguments: { city: "Rom €" } },
  ];
  const usage = { inputTokens: 40, outputTokens: 12 };
  server.script("pieces", { content: "I look it up.", pieces: ["I look", " it", " up."], calls, usage });
  const { call } = provider();
  const chunk = await call(ask("pieces"));
  expect(reported).toEqual(["I look", "I look it", "I look it up."]);
  const complete: ModelRequest = ask("pieces");
  delete complete.onText;
  expect(chunk).toEqual(await call(complete));
  expect(chunk).toMatchObject({ finishReason: "tool_calls", usage: { ...usage, estimated: false } });
  expect(askedInPieces()).toEqual([true, false]);
});

describe("a server", () => {
  test("that rejects streaming is called without it from then on", async () => {
    server.script("rejects", [
      { status: 400, message: "stream_options: unknown field" },
      { content: "whole" },
    ]);
    const { call } = provider();
    const reply = await call(ask("rejects"));
    expect(reply).toMatchObject({
      content: "whole",
      attempts: [{ retryAt: expect.any(String) }, { error: null }],
    });
    await call(ask("rejects"));
    expect(askedInPieces()).toEqual([true, false, false]);
  });

  test("that streams no usage is counted once, and called without streaming from then on", async () => {
    server.script("silent", { content: "in pieces", usage: null });
    const { call } = provider();
    expect((await call(ask("silent"))).usage.estimated).toBe(true);
    await call(ask("silent"));
    expect(askedInPieces()).toEqual([true, false]);
  });

  test("that does not stream on request is understood", async () => {
    server.script("one", { body: { choices: [{ message: { content: "whole" } }] } });
    expect((await provider().call(ask("one"))).content).toBe("whole");
    expect(reported).toEqual([]);
  });

  test("that omits call indexes, or repeats names, is understood", async () => {
    const piece = (tool_calls: object[], finish_reason: string | null = null) => ({
      choices: [{ delta: { tool_calls }, finish_reason }],
    });
    server.script("unnumbered", {
      events: [
        piece([{ id: "a", function: { name: "one", arguments: '{"n":' } }]),
        piece([{ function: { arguments: "1}" } }]),
        piece([{ id: "b", function: { name: "two", arguments: { n: 2 } } }], "tool_calls"),
      ],
    });
    server.script("repeated", {
      events: [
        piece([{ index: 0, id: "a", function: { name: "one", arguments: '{"n":' } }]),
        piece([{ index: 0, id: "a", function: { name: "one", arguments: "1}" } }], "tool_calls"),
      ],
    });
    const { call } = provider();
    expect((await call(ask("unnumbered"))).toolCalls).toEqual([
      { id: "a", name: "one", arguments: '{"n":1}' },
      { id: "b", name: "two", arguments: '{"n":2}' },
    ]);
    expect((await call(ask("repeated", { model: "other" }))).toolCalls).toEqual([
      { id: "a", name: "one", arguments: '{"n":1}' },
    ]);
  });
});

describe("an answer", () => {
  const begins = { choices: [{ delta: { content: "I be" } }] };
  const ends = { choices: [{ delta: { content: "gin." }, finish_reason: "stop" }] };

  test.each([
    ["cut off", { events: [begins], isCut: true }],
    ["with an error for a piece", { events: [begins, { error: { message: "overloaded" } }] }],
  ])("%s is requested again, and reported from the beginning", async (name, first) => {
    server.script(name, [first, { events: [begins, ends] }]);
    const reply = await provider().call(ask(name));
    expect(reply.content).toBe("I begin.");
    expect(reply.attempts).toMatchObject([{ error: expect.any(String) }, { error: null }]);
    expect(reported.slice(-2)).toEqual(["I be", "I begin."]);
  });

  test.each([
    ["that ends too early", { events: [begins] }],
    ["with a piece that is none", { events: [begins, { choices: "none" }, ends] }],
    [
      "with a message instead of deltas",
      { events: [{ choices: [{ message: { content: "I begin." }, finish_reason: "stop" }] }] },
    ],
    ["with a call beyond measure", { events: [{ choices: [{ delta: { tool_calls: [{ index: 1e9 }] } }] }] }],
  ])("%s is requested whole at once, and after a second one, so are later ones", async (name, first) => {
    const second = { content: "I begin." };
    server.script(name, [first, second, first, second]);
    const { call } = provider();
    const changes = ["the answer was requested in one piece"];
    const attempts = [{ error: expect.any(String) }, { error: null, changes }];
    expect(await call(ask(name))).toMatchObject({ content: "I begin.", attempts });
    expect(await call(ask(name))).toMatchObject({ content: "I begin.", attempts });
    expect(await call(ask(name))).toMatchObject({ attempts: [{ error: null, changes }] });
    expect(askedInPieces()).toEqual([true, false, true, false, false]);
  });

  test("whose connection was lost with others says nothing about later ones", async () => {
    const second = { content: "I begin." };
    server.script("lost", [{ events: [begins] }, second, second, { events: [begins] }, second, second]);
    server.script("lost too", [{ events: [begins] }, second]);
    const { call } = provider();
    await Promise.all([call(ask("lost")), call(ask("lost too"))]);
    for (let each = 0; each < 3; each += 1) await call(ask("lost"));
    expect(askedInPieces().slice(0, 2)).toEqual([true, true]);
    expect(askedInPieces().slice(4)).toEqual([true, true, false, true]);
  });

  test("ends with the last finish reason that is not empty", async () => {
    const empty = (content: string) => ({ choices: [{ delta: { content }, finish_reason: "" }] });
    const long = { choices: [{ delta: {}, finish_reason: "length" }] };
    server.script("empty", [{ events: [empty("I be"), long, empty("")] }, { content: "whole" }]);
    await expect(provider().call(ask("empty"))).rejects.toMatchObject({ reason: "truncated" });
    server.script("early", [{ events: [empty("I be")] }, { content: "I begin." }]);
    expect(await provider().call(ask("early"))).toMatchObject({ content: "I begin." });
  });

  test("that is rejected in a chunk is not requested again", async () => {
    const error = { message: "You exceeded your quota.", code: "insufficient_quota" };
    server.script("poor", { events: [begins, { error }] });
    const failure = await provider()
      .call(ask("poor"))
      .catch((thrown: unknown) => thrown);
    expect(failure).toBeInstanceOf(ModelError);
    expect(failure).toMatchObject({ reason: "quota", attempts: [{}] });
  });

  test("is abandoned when the call is cancelled", async () => {
    const controller = new AbortController();
    const reason = new Error("cancelled by ada");
    const onText = () => controller.abort(reason);
    server.script("endless", { pieces: ["I be", "gin."], beforeLast: new Promise(() => {}) });
    const call = provider().call(ask("endless", { signal: controller.signal, onText }));
    await expect(call).rejects.toMatchObject({ name: "ModelCallStopped", cause: reason });
  });
});
