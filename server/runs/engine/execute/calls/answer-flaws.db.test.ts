import { afterAll, expect, it } from "vitest";
import { saveAgent } from "@/server/catalog/save-agent";
import { inspectRun } from "@/server/runs/read/inspect/inspect";
import { startRun } from "@/server/runs/start";
import { createModels } from "@/server/work/models/registry";
import { testClock } from "@/testing/clock";
import { executeRun } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import { createMember } from "@/testing/runs";
import { startModelServer } from "@/testing/servers/model-server";
import { createTenant, openWorld } from "@/testing/world";

const server = await startModelServer();
afterAll(() => server.close());
const models = createModels({ openai: { apiKey: "sk-test", baseUrl: server.url }, clock: testClock() });
const world = await openWorld({ models });

const event = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ delta, finish_reason }],
});
const used = { choices: [], usage: { prompt_tokens: 100, completion_tokens: 50 } };
const streamed = (content: string, finish: string) => ({
  events: [event({ content }), event({}, finish), used],
});

async function execute(
  message: string,
  { credits = "1000", model }: { credits?: string; model?: string } = {},
) {
  const tenant = await createTenant(world, { credits });
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  if (model !== undefined)
    await saveAgent(world, actor, { definition: { slug: "helper", name: "Helper", model } });
  const start = { kind: "agent", targetId: tenant.agentId, userMessage: message } as const;
  const { runId } = await startRun(world, actor, start);
  await executeRun(world, runId);
  const viewer = await createMember(world, tenant, "viewer");
  await expectSoundLedger(world, tenant);
  return inspectRun(world, viewer, { runId });
}

it("repeats a call that was cut off as an attempt of it, and charges both", async () => {
  server.script("cut once", [streamed("Half", "length"), streamed("Whole.", "stop")]);
  const { run, calls } = await execute("cut once");
  expect(run).toMatchObject({ status: "Completed", output: { text: "Whole." } });
  expect(calls).toMatchObject([
    { status: "Completed", inputTokens: 200, outputTokens: 100, attempts: [{}, { error: null }] },
  ]);
  expect(server.requests.map(({ body }) => body.max_completion_tokens)).toEqual([4_000, 32_000]);
});

it("repeats with what the balance can hold", async () => {
  server.requests.length = 0;
  server.script("cut poor", [streamed("Half", "length"), streamed("Whole.", "stop")]);
  const { run } = await execute("cut poor", { credits: "5" });
  expect(run.status).toBe("Completed");
  expect(server.requests.map(({ body }) => body.max_completion_tokens)).toEqual([4_000, 8_000]);
});

it.each([
  ["cut always", streamed("Half", "length"), "output_truncated", /limit of 32,000 output tokens/],
  ["filtered", streamed("", "content_filter"), "refused", /filtered the answer/],
  ["declined", { events: [event({ refusal: "No, sorry." }, "stop"), used] }, "refused", /No, sorry\./],
  ["nothing", streamed("", "stop"), "empty_answer", /empty answer/],
])("fails a run whose answer is %s", async (name, line, errorCode, message) => {
  server.script(name, line);
  const { run } = await execute(name);
  expect(run).toMatchObject({ status: "Failed", errorCode, errorMessage: expect.stringMatching(message) });
});

it("says that credits are missing for a repeat", async () => {
  server.script("cut poorest", streamed("Half", "length"));
  const { run } = await execute("cut poorest", { credits: "2" });
  expect(run).toMatchObject({
    errorCode: "output_truncated",
    errorMessage: expect.stringContaining("credits"),
  });
});

it("repeats with the model's maximum if the catalog knows it", async () => {
  server.requests.length = 0;
  server.script("cut known", [streamed("Half", "length"), streamed("Whole.", "stop")]);
  // 4,096 output tokens.
  const { run } = await execute("cut known", { model: "gpt-4-turbo" });
  expect(run).toMatchObject({ status: "Completed", output: { text: "Whole." } });
  expect(server.requests.map(({ body }) => body.max_completion_tokens)).toEqual([4_000, 4_096]);
});
