import { afterAll, expect, it } from "vitest";
import { Decimal } from "@/server/base/amount";
import type { PriceList } from "@/server/base/models/price-list";
import { readAttempts } from "@/server/runs/attempts";
import { sumCachedTokens } from "@/server/runs/read/cached-tokens";
import { inspectRun } from "@/server/runs/read/inspect/inspect";
import { inspectCall } from "@/server/runs/read/inspect/inspect-line";
import { startRun } from "@/server/runs/start";
import { createModels } from "@/server/work/models/registry";
import { testClock } from "@/testing/clock";
import { executeRun } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import { createMember } from "@/testing/runs";
import { startModelServer } from "@/testing/servers/model-server";
import { createTenant, createWorld, openWorld, setAgent, type Tenant } from "@/testing/world";

const server = await startModelServer();
afterAll(() => server.close());
const models = createModels({ openai: { apiKey: "sk-test", baseUrl: server.url }, clock: testClock() });

const price = (
  input: string,
  output: string,
  parts: { cachedInput?: Decimal; cacheWrite?: Decimal } = {},
) => ({
  input: new Decimal(input),
  ...parts,
  output: new Decimal(output),
});
const listOf = (model: PriceList["defaultModel"]): PriceList => ({
  defaultModel: price("0.1", "0.4"),
  models: { dear: model },
  action: new Decimal("0.01"),
});
const parts = { cachedInput: new Decimal("0.1"), cacheWrite: new Decimal("1.25") };
const world = await openWorld({ models, prices: listOf(price("1", "5", parts)) });

const usageOf = (prompt: number, [cached, written, completion, reasoning]: number[]) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + (completion ?? 0),
  prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
  completion_tokens_details: { reasoning_tokens: reasoning },
});
const FIRST = usageOf(1111, [0, 777, 33, 20]);
const SECOND = usageOf(1333, [777, 0, 41, 7]);
const calls = [{ name: "calculate", arguments: { expression: "1+1" } }];

async function startAt(process: typeof world, tenant: Tenant, userMessage: string): Promise<string> {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const target = { kind: "agent", targetId: tenant.agentId, userMessage } as const;
  return (await startRun(process, actor, target)).runId;
}

async function tenantOf(model: string, credits = "100"): Promise<Tenant> {
  const tenant = await createTenant(world, { credits });
  await setAgent(world, tenant, { model });
  return tenant;
}

const read = (id: string) =>
  world.db.run.findUniqueOrThrow({
    where: { id },
    include: { modelCalls: { orderBy: { id: "asc" } }, steps: true },
  });

it("charges cached and written input at their prices; the parts add up to the fourth decimal", async () => {
  server.script("cached", { calls, reported: FIRST }, { content: "2", reported: SECOND });
  const tenant = await tenantOf("dear");
  const runId = await startAt(world, tenant, "cached");
  await executeRun(world, runId);
  const run = await read(runId);
  expect(run).toMatchObject({ status: "Completed", inputTokens: 2444, outputTokens: 74 });
  expect(run.modelCalls).toMatchObject([
    { inputTokens: 1111, cachedInputTokens: 0, cacheWriteTokens: 777, outputTokens: 33, reasoningTokens: 20 },
    { inputTokens: 1333, cachedInputTokens: 777, cacheWriteTokens: 0, outputTokens: 41, reasoningTokens: 7 },
  ]);
  // (334 × 1 + 777 × 1.25 + 33 × 5) / 1000, and (556 × 1 + 777 × 0.1 + 41 × 5) / 1000.
  expect(run.modelCalls.map(({ credits }) => credits.toFixed(4))).toEqual(["1.4703", "0.8387"]);
  const lines = [...run.modelCalls, ...run.steps].map(({ credits }) => credits);
  expect(Decimal.sum(...lines).toFixed(4)).toBe("2.3190");
  expect(run.creditsUsed.toFixed(4)).toBe("2.3190");
  await expectSoundLedger(world, tenant);

  const viewer = await createMember(world, tenant, "viewer");
  const inspected = await inspectRun(world, viewer, { runId });
  expect(inspected.calls).toMatchObject([
    { cachedInputTokens: 0, cacheWriteTokens: 777, reasoningTokens: 20 },
    { cachedInputTokens: 777, cacheWriteTokens: 0, reasoningTokens: 7 },
  ]);
  const callId = inspected.calls[1]?.id ?? "";
  const detail = await inspectCall(world, viewer, { runId, callId });
  expect(detail.attempts.map(({ usage }) => JSON.parse(usage ?? ""))).toEqual([SECOND]);
  expect(await sumCachedTokens(world, tenant.orgId, [runId])).toEqual([{ runId, tokens: 777 }]);
  const stranger = await createTenant(world);
  expect(await sumCachedTokens(world, stranger.orgId, [runId])).toEqual([]);
});

it("keeps what the provider reported, for each attempt", async () => {
  const half = { choices: [{ delta: { content: "Half" }, finish_reason: "length" }], usage: FIRST };
  server.script("cut", [{ events: [half] }, { content: "Whole.", reported: SECOND }]);
  const tenant = await tenantOf("dear", "1000");
  const runId = await startAt(world, tenant, "cut");
  await executeRun(world, runId);
  const { creditsUsed, modelCalls } = await read(runId);
  expect(modelCalls).toMatchObject([
    { inputTokens: 2444, cachedInputTokens: 777, cacheWriteTokens: 777, reasoningTokens: 27 },
  ]);
  const reported = readAttempts(modelCalls[0]?.attempts ?? "").map(({ usage }) => JSON.parse(usage ?? ""));
  expect(reported).toEqual([FIRST, SECOND]);
  expect(creditsUsed.toFixed(4)).toBe("2.3090");
});

it("charges a run at the prices of its start, also if those had no cached input", async () => {
  server.script("earlier", { calls, reported: FIRST }, { content: "2", reported: SECOND });
  const tenant = await tenantOf("dear");
  const before = await createWorld({ beside: world, models, prices: listOf(price("1", "5")) });
  const runId = await startAt(before, tenant, "earlier").finally(() => before.close());
  await executeRun(world, runId);
  // (2444 × 1 + 74 × 5) / 1000 and one action.
  expect((await read(runId)).creditsUsed.toFixed(4)).toBe("2.8240");
});

it("reserves the dearest input, so that no report exceeds the reservation", async () => {
  // The prompt is written to the cache completely: 1.25 for each token.
  const dear = listOf(price("0.1", "0.4", { cacheWrite: new Decimal(50) }));
  const process = await createWorld({ beside: world, models, prices: dear });
  try {
    const tenant = await tenantOf("dear", "1");
    await expect(startAt(process, tenant, "word ".repeat(100))).rejects.toMatchObject({
      code: "insufficient_credits",
    });
  } finally {
    await process.close();
  }
});
