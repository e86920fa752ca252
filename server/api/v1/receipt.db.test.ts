import fc from "fast-check";
import { expect, it } from "vitest";
import { Decimal, ZERO } from "@/server/base/amount";
import type { PriceList } from "@/server/base/models/price-list";
import { refundRun } from "@/server/credits/refund";
import { cancelRun } from "@/server/runs/cancel";
import { removeWorker } from "@/server/runs/engine/worker";
import { WorkerLost } from "@/server/runs/engine/write/writer";
import { startRun } from "@/server/runs/start";
import { ModelError, type ModelReply, type ModelRequest } from "@/server/work/models/port";
import { executeRun } from "@/testing/execute";
import { createKey, openRestServer } from "@/testing/servers/rest-server";
import { createTenant, openWorld, scriptedModels, type World } from "@/testing/world";

type Turn = { act: (typeof ACTS)[number]; usage: ModelReply["usage"] };
const ACTS = ["calculate", "adder", "both", "wrong", "say", "fail", "cancel", "die"] as const;

let turns: Turn[] = [];
let running = { world: null as World | null, runId: "" };

const CALLS: Partial<Record<Turn["act"], { name: string; arguments: string }[]>> = {
  calculate: [{ name: "calculate", arguments: '{"expression":"17 * 23"}' }],
  adder: [{ name: "adder", arguments: '{"a":1,"b":2}' }],
  both: [
    { name: "calculate", arguments: '{"expression":"1 + 1"}' },
    { name: "adder", arguments: '{"a":3,"b":4}' },
  ],
  wrong: [{ name: "calculate", arguments: '{"expression":"17 *"}' }],
};

async function reply(request: ModelRequest): Promise<Partial<ModelReply>> {
  const turn = turns.shift();
  if (turn === undefined) return { attempts: [attempt('{"total_tokens":110}')] };
  const { act, usage } = turn;
  if (act === "fail")
    throw new ModelError("No.", { reason: "rejected", attempts: [], received: { content: "N", usage } });
  if (act === "cancel") {
    const { world, runId } = running;
    const aborted = new Promise<never>((_resolve, reject) => {
      request.signal.addEventListener("abort", () => reject(request.signal.reason));
    });
    if (world) await cancelRun(world, tenant.orgId, { runId, by: "Ada" });
    return aborted;
  }
  if (act === "die" && running.world)
    await removeWorker(running.world.pool, (await running.world.engine.worker()).id);
  const toolCalls = (CALLS[act] ?? []).map((call, n) => ({ id: `c${n}`, ...call }));
  return { usage, toolCalls, attempts: [attempt(JSON.stringify({ prompt_tokens: usage.inputTokens }))] };
}

const attempt = (usage: string) => ({
  startedAt: "2026-11-21T01:22:07.000Z",
  durationMs: 5,
  error: null,
  usage,
});

const prices = (input: string, output: string, action: string): PriceList => ({
  models: {
    "gpt-5-mini": {
      input: new Decimal(input),
      cachedInput: new Decimal("0.0013"),
      cacheWrite: new Decimal("0.0791"),
      output: new Decimal(output),
    },
  },
  defaultModel: { input: new Decimal("0.1"), output: new Decimal("0.4") },
  action: new Decimal(action),
});

const models = scriptedModels(reply);
const first = await openWorld({ models, prices: prices("0.0137", "0.0919", "0.0101") });
const second = await openWorld({ models, prices: prices("0.0331", "0.0007", "0.0003"), beside: first });
const tenant = await createTenant(first, { credits: "100000" });
const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
const key = await createKey(first, tenant);
await first.db.plan.updateMany({ data: { readsPerMinute: null } });
const { call } = await openRestServer(first);

async function start(world: World, kind: "agent" | "tool"): Promise<string> {
  const target =
    kind === "agent"
      ? ({ kind, targetId: tenant.agentId, userMessage: "Add" } as const)
      : ({ kind, targetId: tenant.toolId, input: { a: 1, b: 2 } } as const);
  const { runId } = await startRun(world, actor, target);
  running = { world, runId };
  return runId;
}

type Line = { type: string; credits: string; model?: string; usage?: Record<string, number>; status: string };

async function receiptOf(runId: string) {
  const { status, body } = await call(`/v1/runs/${runId}/receipt`, { key });
  expect(status).toBe(200);
  const lines: Line[] = body.lines;
  const sum = lines.reduce((all, { credits }) => all.add(credits), ZERO);
  expect(sum.toFixed(4)).toBe(body.creditsUsed);
  return { ...body, lines };
}

async function expectReceipts(runId: string): Promise<void> {
  const runs = await first.db.run.findMany({ where: { rootRunId: runId } });
  for (const run of runs) {
    const receipt = await receiptOf(run.id);
    expect(receipt).toMatchObject({
      runId: run.id,
      status: run.status,
      creditsUsed: run.creditsUsed.toFixed(4),
    });
    const charged = await first.db.creditEntry.findMany({ where: { runId: run.id, kind: "charge" } });
    const total = charged.reduce((all, { amount }) => all.sub(amount), ZERO);
    expect(total.toFixed(4)).toBe(receipt.creditsUsed);
    const isChild = run.parentRunId !== null;
    for (const { type, credits, usage } of receipt.lines) {
      if (type === "action") expect(credits).toBe(new Decimal(receipt.priceList.action).toFixed(4));
      if (type !== "model_call" || isChild) continue;
      const [price] = receipt.priceList.models;
      const { inputTokens = 0, cachedInputTokens = 0, cacheWriteTokens = 0, outputTokens = 0 } = usage ?? {};
      const exact = new Decimal(price.input)
        .mul(inputTokens - cachedInputTokens - cacheWriteTokens)
        .add(new Decimal(price.cachedInput).mul(cachedInputTokens))
        .add(new Decimal(price.cacheWrite).mul(cacheWriteTokens))
        .add(new Decimal(price.output).mul(outputTokens));
      expect(credits).toBe(exact.div(1000).toDecimalPlaces(4, Decimal.ROUND_HALF_UP).toFixed(4));
    }
  }
}

const tokens = fc.integer({ min: 0, max: 40_000 });
const turn: fc.Arbitrary<Turn> = fc.record({
  act: fc.constantFrom(...ACTS.filter((act) => act !== "die")),
  usage: fc
    .tuple(tokens, tokens, tokens, tokens)
    .map(([fresh, cachedInputTokens, cacheWriteTokens, outputTokens]) => ({
      inputTokens: fresh + cachedInputTokens + cacheWriteTokens,
      cachedInputTokens,
      cacheWriteTokens,
      outputTokens,
      estimated: false,
    })),
});

it("the lines of each finished run sum to its credits to the fourth decimal, at the prices of its start", async () => {
  const seen = new Set<string>();
  const property = fc.asyncProperty(
    fc.constantFrom(first, second),
    fc.constantFrom("agent" as const, "agent" as const, "agent" as const, "tool" as const),
    fc.array(turn, { maxLength: 5 }),
    async (world, kind, played) => {
      turns = [...played];
      const runId = await start(world, kind);
      await executeRun(world, runId);
      await expectReceipts(runId);
      const run = await first.db.run.findUniqueOrThrow({ where: { id: runId } });
      seen.add(`${kind} ${run.status}`);
    },
  );
  const examples: [World, "agent", Turn[]][] = (["say", "fail", "cancel"] as const).map((act) => [
    first,
    "agent",
    [
      { act: "both", usage: { inputTokens: 3, outputTokens: 1, estimated: false } },
      { act, usage: { inputTokens: 777, outputTokens: 13, estimated: false } },
    ],
  ]);
  await fc.assert(property, { numRuns: 40, seed: 38, examples });
  expect([...seen]).toEqual(
    expect.arrayContaining(["agent Completed", "agent Failed", "agent Cancelled", "tool Completed"]),
  );
});

it("has one line for each model call and action, with the provider's usage", async () => {
  turns = [
    {
      act: "adder",
      usage: { inputTokens: 1_000, cachedInputTokens: 400, outputTokens: 10, estimated: false },
    },
  ];
  const runId = await start(first, "agent");
  await executeRun(first, runId);
  const child = await first.db.run.findFirstOrThrow({ where: { parentRunId: runId } });
  const receipt = await receiptOf(runId);
  expect(receipt.lines).toEqual([
    {
      type: "model_call",
      name: "think-1",
      status: "Completed",
      provider: "test",
      model: "gpt-5-mini",
      usage: {
        inputTokens: 1_000,
        cachedInputTokens: 400,
        cacheWriteTokens: 0,
        outputTokens: 10,
        reasoningTokens: 0,
        estimated: false,
        reported: [{ prompt_tokens: 1_000 }],
      },
      credits: "0.0097",
    },
    {
      type: "action",
      name: "adder",
      status: "Completed",
      stepNumber: 1,
      childRunId: child.id,
      credits: "0.0101",
    },
    expect.objectContaining({
      name: "think-2",
      usage: expect.objectContaining({ reported: [{ total_tokens: 110 }] }),
    }),
  ]);
  expect(receipt.priceList).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{16}$/),
    action: "0.0101",
    models: [
      { model: "gpt-5-mini", input: "0.0137", cachedInput: "0.0013", cacheWrite: "0.0791", output: "0.0919" },
    ],
  });
  turns = [];
  const later = await start(second, "agent");
  await executeRun(second, later);
  expect((await receiptOf(later)).priceList.id).not.toBe(receipt.priceList.id);
  expect(await receiptOf(runId)).toEqual(receipt);
});

it("stays after a refund, and names it", async () => {
  turns = [{ act: "adder", usage: { inputTokens: 5_000, outputTokens: 100, estimated: false } }];
  const runId = await start(first, "agent");
  await executeRun(first, runId);
  const before = await receiptOf(runId);
  expect(before.creditsRefunded).toBe("0.0000");
  await refundRun(first, actor, { runId, note: "A bad day." });
  expect(await receiptOf(runId)).toEqual({ ...before, creditsRefunded: before.creditsUsed });
});

it("of an open run it has the usage so far, and of one that the service failed a waiver", async () => {
  turns = [
    { act: "adder", usage: { inputTokens: 5_000, outputTokens: 100, estimated: false } },
    { act: "die", usage: { inputTokens: 1, outputTokens: 1, estimated: false } },
  ];
  const runId = await start(first, "agent");
  await expect(executeRun(first, runId)).rejects.toThrow(WorkerLost);
  const open = await receiptOf(runId);
  expect(open.creditsUsed).toBe("0.0878");
  await first.engine.failRun(runId, new Error("the worker was lost once too often"));
  const receipt = await receiptOf(runId);
  expect(receipt).toMatchObject({ status: "Failed", creditsUsed: "0.0000" });
  expect(receipt.lines.at(-1)).toEqual({
    type: "waiver",
    name: "The service failed: nothing is charged",
    status: null,
    credits: `-${open.creditsUsed}`,
  });
  const child = await first.db.run.findFirstOrThrow({ where: { parentRunId: runId } });
  expect(await receiptOf(child.id)).toMatchObject({ creditsUsed: "0.0101", creditsRefunded: "0.0101" });
});
