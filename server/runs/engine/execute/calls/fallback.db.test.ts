import { afterAll, expect, it } from "vitest";
import { Decimal } from "@/server/base/amount";
import { DEFAULT_PRICES } from "@/server/base/models/price-list";
import { saveAgent } from "@/server/catalog/save-agent";
import { saveTool } from "@/server/catalog/save-tool";
import { inspectRun } from "@/server/runs/read/inspect/inspect";
import { inspectCall } from "@/server/runs/read/inspect/inspect-line";
import { startRun } from "@/server/runs/start";
import { createModels } from "@/server/work/models/registry";
import { testClock } from "@/testing/clock";
import { executeRun } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import { createMember } from "@/testing/runs";
import { startModelServer } from "@/testing/servers/model-server";
import { createTenant, openWorld } from "@/testing/world";

const first = await startModelServer();
const second = await startModelServer();
const silent = await startModelServer();
await silent.close();
afterAll(() => Promise.all([first.close(), second.close()]));

const clock = testClock();
// Credits per 1,000 tokens.
const price = (credits: number) => ({ input: new Decimal(credits), output: new Decimal(credits) });
const world = await openWorld({
  models: createModels({
    openai: { apiKey: "sk-test", baseUrl: first.url },
    providers: [
      { name: "silent", baseUrl: silent.url, models: ["gone"] },
      { name: "other", baseUrl: second.url, models: ["spare"] },
    ],
    clock,
    sleep: async (ms) => clock.advance(ms),
  }),
  prices: { ...DEFAULT_PRICES, defaultModel: price(1), models: { spare: price(10) } },
});

// Lessons about one model would change the next test.
let tests = 0;
const nextModel = () => {
  tests += 1;
  return `main-${tests}`;
};

type Agent = { model?: string; fallbackModels?: string[]; functions?: string[]; credits?: string };

async function execute(
  message: string,
  { model = nextModel(), fallbackModels = ["spare"], functions = [], credits = "1000" }: Agent = {},
) {
  const tenant = await createTenant(world, { credits });
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  await saveAgent(world, actor, {
    definition: { slug: "helper", name: "Helper", model, fallbackModels, functions },
  });
  const start = { kind: "agent", targetId: tenant.agentId, userMessage: message } as const;
  const { runId } = await startRun(world, actor, start);
  await executeRun(world, runId);
  const viewer = await createMember(world, tenant, "viewer");
  await expectSoundLedger(world, tenant);
  const inspected = await inspectRun(world, viewer, { runId });
  const calls = await Promise.all(
    inspected.calls.map(({ id: callId }) => inspectCall(world, viewer, { runId, callId })),
  );
  return { ...inspected, calls };
}

const event = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ delta, finish_reason }],
});
const broken = {
  events: [
    event({ content: "Half" }),
    { choices: [], usage: { prompt_tokens: 100, completion_tokens: 100 } },
  ],
  isCut: true,
};

it.each<[string, Parameters<typeof first.script>[1], number]>([
  ["429", { status: 429 }, 5],
  ["500", { status: 500 }, 5],
  ["503", { status: 503 }, 5],
  ["a dropped connection", { fault: "drop" }, 5],
  ["408, a time-out", { status: 408 }, 5],
  ["429 for an hour", { status: 429, retryAfter: 3_600 }, 1],
  ["404", { status: 404, message: "no" }, 1],
  ["400 for an unknown model", { status: 400, message: "main-1 is not a valid model ID" }, 1],
])("after %s the fallback answers and is charged", async (name, line, attempts) => {
  first.script(name, line);
  second.script(name, { content: "Spare.", usage: { inputTokens: 50, outputTokens: 50 } });
  const { run, calls } = await execute(name);
  expect(run).toMatchObject({ status: "Completed", output: { text: "Spare." } });
  const main = { provider: "openai", model: expect.stringContaining("main"), error: expect.any(String) };
  expect(calls).toMatchObject([
    {
      provider: "other",
      model: "spare",
      fellBack: true,
      credits: "1.0000",
      attempts: [
        ...Array.from({ length: attempts }, () => main),
        { provider: "other", model: "spare", error: null },
      ],
    },
  ]);
});

it.each<[string, Parameters<typeof first.script>[1], string]>([
  ["400", { status: 400, message: "no" }, "model_refused"],
  ["401", { status: 401, message: "no" }, "model_unauthorized"],
  ["402", { status: 402, message: "no" }, "model_quota"],
  ["409", { status: 409, message: "no" }, "model_unavailable"],
  ["429 for a used up quota", { status: 429, code: "insufficient_quota" }, "model_quota"],
  ["a call that Groq could not read", { status: 400, code: "tool_use_failed" }, "model_unavailable"],
  ["a filter", { events: [event({}, "content_filter")] }, "refused"],
  ["a declined answer", { events: [event({ refusal: "No." }, "stop")] }, "refused"],
  ["an empty answer", { content: "" }, "empty_answer"],
])("after %s no fallback is called", async (name, line, errorCode) => {
  second.requests.length = 0;
  first.script(name, line);
  const { run, calls } = await execute(name);
  expect(run).toMatchObject({ status: "Failed", errorCode });
  expect(calls).toMatchObject([
    { provider: "openai", model: expect.stringContaining("main"), fellBack: false },
  ]);
  expect(second.requests).toEqual([]);
});

it("tries each model in turn, and fails with the last one's error", async () => {
  first.script("all", { status: 404, message: "no such model" });
  second.script("all", { status: 500, message: "down" });
  const { run, calls } = await execute("all", { model: "main", fallbackModels: ["gone", "spare"] });
  expect(run).toMatchObject({
    status: "Failed",
    errorCode: "model_unavailable",
    errorMessage: 'The model provider "other" answered 500 down',
  });
  const models = calls.flatMap(({ attempts }) => attempts.map(({ model }) => model));
  expect(models).toEqual(["main", ...Array(5).fill("gone"), ...Array(5).fill("spare")]);
});

it("charges what an interrupted model sent at its own price", async () => {
  first.script("broken", broken);
  second.script("broken", { content: "Spare.", usage: { inputTokens: 50, outputTokens: 50 } });
  const { run, calls } = await execute("broken");
  // Five attempts of 200 tokens at 1, then 100 tokens at 10 for 1,000.
  expect(run).toMatchObject({ status: "Completed", output: { text: "Spare." } });
  expect(calls).toMatchObject([{ model: "spare", inputTokens: 550, outputTokens: 550, credits: "2.0000" }]);
});

it("holds credits for the dearest of the models", async () => {
  first.script("dear", { content: "Main." });
  // A call of the dear one may cost 10 for 1,000 output tokens.
  await expect(execute("dear", { credits: "5" })).rejects.toThrow(/credits/i);
  const { run } = await execute("dear", { credits: "5", fallbackModels: [] });
  expect(run.status).toBe("Completed");
  // As much output as the dear one could be paid for.
  first.requests.length = 0;
  await execute("dear", { credits: "20" });
  await execute("dear", { credits: "20", fallbackModels: [] });
  expect(first.requests.map(({ body }) => body.max_completion_tokens)).toEqual([1_000, 4_000]);
});

it("leaves out what another model gave for itself, and gives it back to the same one", async () => {
  const call = { id: "a", type: "function", function: { name: "current_time", arguments: "{}" } };
  const thinks = { message: { content: "", reasoning_content: "secret thoughts", tool_calls: [call] } };
  const done = { status: 500, message: "down" };
  first.script(
    "middle",
    { body: { choices: [{ ...thinks, finish_reason: "tool_calls" }] } },
    // The second iteration: five failures. Then the model is back.
    done,
    { content: "Main." },
  );
  second.script(
    "middle",
    { content: "", calls: [{ name: "current_time", arguments: {} }] },
    { content: "", calls: [{ name: "current_time", arguments: { timezone: "Europe/Oslo" } }] },
  );
  first.requests.length = 0;
  second.requests.length = 0;
  const { run, calls } = await execute("middle", { model: "main", functions: ["current_time"] });
  expect(run).toMatchObject({ status: "Completed", output: { text: "Main." } });
  expect(calls.map(({ model }) => model)).toEqual(["main", "spare", "main"]);
  const [toSpare] = second.requests;
  expect(JSON.stringify(toSpare?.body)).not.toContain("secret thoughts");
  const last = first.requests.at(-1);
  expect(last?.body.messages[1]).toMatchObject({ reasoning_content: "secret thoughts" });
  expect(last?.body.messages[3]).not.toHaveProperty("reasoning_content");
});

it("stores with each attempt what it left out", async () => {
  first.script("strict", [{ status: 400, message: "stream is not supported" }, { content: "ok" }]);
  const { calls } = await execute("strict", { fallbackModels: [] });
  expect(calls).toMatchObject([
    { attempts: [{ error: expect.any(String) }, { changes: ["the answer was requested in one piece"] }] },
  ]);
});

it("generate_text falls back, and holds credits for the dearest of its models", async () => {
  first.script("tool", { status: 404, message: "no such model" });
  second.script("tool", { content: "Spare.", usage: { inputTokens: 50, outputTokens: 50 } });
  const generate = async (credits: string) => {
    const tenant = await createTenant(world, { credits });
    const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
    const input = { prompt: "tool", model: nextModel(), fallbackModels: ["spare"], temperature: 0.5 };
    const { id } = await saveTool(world, actor, {
      definition: {
        slug: "writer",
        name: "Writer",
        steps: [{ id: "text", uses: "generate_text", with: input }],
      },
    });
    const { runId } = await startRun(world, actor, { kind: "tool", targetId: id, input: {} });
    await executeRun(world, runId);
    await expectSoundLedger(world, tenant);
    const viewer = await createMember(world, tenant, "viewer");
    const { run, calls } = await inspectRun(world, viewer, { runId });
    const callId = calls[0]?.id ?? "";
    return { run, call: await inspectCall(world, viewer, { runId, callId }) };
  };
  second.requests.length = 0;
  const { run, call } = await generate("1000");
  expect(run).toMatchObject({ status: "Completed", output: { text: '"Spare."' } });
  expect(call).toMatchObject({
    provider: "other",
    model: "spare",
    credits: "1.0000",
    attempts: [
      { provider: "openai", error: expect.any(String) },
      { provider: "other", model: "spare", error: null },
    ],
  });
  expect(second.requests.map(({ body }) => [body.temperature, body.max_completion_tokens])).toEqual([
    [0.5, 4_000],
  ]);
  // A call of the dear one may cost 10 for 1,000 output tokens.
  await generate("20.01");
  expect(second.requests.at(-1)?.body.max_completion_tokens).toBeLessThan(2_100);
});

it("rejects the agent's own model, a fourth and a repeated one as fallback", async () => {
  const tenant = await createTenant(world);
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const save = (fallbackModels: string[]) =>
    saveAgent(world, actor, { definition: { slug: "a", name: "A", model: "main", fallbackModels } });
  await expect(save(["spare", "main"])).rejects.toMatchObject({
    issues: [{ path: "/fallbackModels/1", message: "is the agent's own model" }],
  });
  await expect(save(["a", "b", "c", "d"])).rejects.toMatchObject({
    issues: [{ path: "/fallbackModels", message: "must have at most 3 models" }],
  });
  await expect(save(["a", "a"])).rejects.toMatchObject({
    issues: [{ path: "/fallbackModels", message: "must not contain duplicates" }],
  });
});
