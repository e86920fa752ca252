import { beforeEach, expect, it } from "vitest";
import { inspectRun } from "@/server/runs/read/inspect/inspect";
import { openRunFile } from "@/server/runs/read/run-file";
import { startRun } from "@/server/runs/start";
import type { ModelReply } from "@/server/work/models/port";
import { executeRun } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import { createMember } from "@/testing/runs";
import { createTenant, createWorld, openWorld, quietModels, type Tenant } from "@/testing/world";

let counts = 0;
let limits: number[] = [];
let estimated = false;
let onCall: () => Promise<Partial<ModelReply>> = async () => ({});

const world = await openWorld({
  models: {
    ...quietModels,
    call: async (request) => {
      limits.push(request.maxOutputTokens);
      const reply = await quietModels.call(request);
      return { ...reply, usage: { ...reply.usage, estimated }, ...(await onCall()) };
    },
    boundTokens: () => 5_000,
    countTokens: async () => {
      counts += 1;
      return 1_000;
    },
  },
});
beforeEach(() => {
  counts = 0;
  limits = [];
  estimated = false;
  onCall = async () => ({});
});

async function start(tenant: Tenant) {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const { runId } = await startRun(world, actor, {
    kind: "agent",
    targetId: tenant.agentId,
    userMessage: "Hi",
  });
  return world.db.run.findUniqueOrThrow({ where: { id: runId } });
}

it("counts nothing where bound and wanted output fit", async () => {
  const tenant = await createTenant(world);
  const run = await start(tenant);
  // 5,000 tokens in at 0.1, 1,000 out at 0.4.
  expect(run.held.toString()).toBe("0.9");
  await executeRun(world, run.id);
  expect(counts).toBe(0);
  expect(limits).toEqual([4_000]);
});

it("accepts a start whose counted prompt fits the balance although its upper bound does not", async () => {
  const tenant = await createTenant(world, { credits: "0.5" });
  const run = await start(tenant);
  expect(run.held.toString()).toBe("0.5");
  expect(counts).toBe(1);
  await executeRun(world, run.id);
  expect(limits).toEqual([1_000]);
  await expect(start(tenant)).rejects.toThrow("Insufficient credits.");
});

it("gives a call all the output that is left beside the counted prompt", async () => {
  const tenant = await createTenant(world);
  await world.db.agentVersion.updateMany({
    where: { agentId: tenant.agentId },
    data: { maxCredits: "0.7" },
  });
  const run = await start(tenant);
  await executeRun(world, run.id);
  // 0.7 less 0.1 for the prompt, at 0.4 per 1,000.
  expect(limits).toEqual([1_500]);
  expect(counts).toBe(1);
});

it.each([
  ["0.1064", { status: "Completed", errorCode: null }, [16]],
  ["0.1063", { status: "Failed", errorCode: "max_credits" }, []],
])("calls no model with less than 16 output tokens: a cap of %s", async (maxCredits, ended, sent) => {
  const tenant = await createTenant(world);
  await world.db.agentVersion.updateMany({ where: { agentId: tenant.agentId }, data: { maxCredits } });
  const { id } = await start(tenant);
  await executeRun(world, id);
  expect(await world.db.run.findUniqueOrThrow({ where: { id } })).toMatchObject(ended);
  expect(limits).toEqual(sent);
});

it("extends a hold that is too small for a model call with a separate ledger entry", async () => {
  const tenant = await createTenant(world, { agent: { functions: ["calculate"] } });
  const run = await start(tenant);
  const heldAtCalls: string[] = [];
  onCall = async () => {
    const { held } = await world.db.run.findUniqueOrThrow({ where: { id: run.id } });
    heldAtCalls.push(held.toString());
    const toolCalls = [{ id: "a", name: "calculate", arguments: '{"expression":"1+1"}' }];
    return heldAtCalls.length === 1 ? { toolCalls } : {};
  };
  await executeRun(world, run.id);
  // 5,000 tokens in and 4,000 out are 2.1, extended by a quarter; that is enough for the second call beside the 0.024
  // used.
  expect(heldAtCalls).toEqual(["2.625", "2.625"]);
  const entries = await world.db.creditEntry.findMany({
    where: { runId: run.id },
    orderBy: { sequence: "asc" },
  });
  expect(entries.map(({ kind, amount }) => [kind, amount.toString()])).toEqual([
    ["hold", "-0.9"],
    ["hold", "-1.725"],
    ["release", "2.625"],
    ["charge", "-0.038"],
  ]);
  await expectSoundLedger(world, tenant);
});

it("holds the whole first model call at the start of a run that executes at once", async () => {
  const tenant = await createTenant(world);
  const slot = await createWorld({ beside: world, models: world.models });
  slot.engine.start({ kind: "embedded", execute: async () => {} });
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const { runId } = await startRun(slot, actor, {
    kind: "agent",
    targetId: tenant.agentId,
    userMessage: "Hi",
  });
  const run = await world.db.run.findUniqueOrThrow({ where: { id: runId } });
  expect(run).toMatchObject({ status: "Running" });
  expect(run.held.toNumber()).toBeGreaterThanOrEqual(2.1);
  const entries = await world.db.creditEntry.findMany({ where: { runId }, orderBy: { sequence: "asc" } });
  expect(entries.map(({ kind, note }) => [kind, note])).toEqual([
    ["hold", "run started"],
    ["hold", "hold extended"],
  ]);
  await expectSoundLedger(world, tenant);
  await slot.close();
});

it.each([true, false])("shows whether the tokens are estimated: %s", async (mark) => {
  const tenant = await createTenant(world);
  const member = await createMember(world, tenant, "viewer");
  estimated = mark;
  const run = await start(tenant);
  await executeRun(world, run.id);
  expect(await inspectRun(world, member, { runId: run.id })).toMatchObject({ calls: [{ estimated: mark }] });
  const file = await openRunFile(world, member, run.id);
  let text = "";
  for await (const piece of file?.pieces ?? []) text += piece;
  expect(JSON.parse(text)).toMatchObject({ modelCalls: [{ estimated: mark }] });
});
