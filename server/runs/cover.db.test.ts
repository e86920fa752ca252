import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { ModelRequest } from "@/server/models/port";
import { createMember } from "@/server/testing/runs";
import { createTenant, createWorld, quietModels, type Tenant, type World } from "@/server/testing/world";
import { readWholeRun } from "./download";
import { executeRun } from "@/server/testing/execute";
import { inspectRun } from "./inspect";
import { startRun } from "./start";

/** What a start holds and a model call is covered with: a quick bound where it fits, the counted prompt where it does not. */

let world: World;
let counts = 0;
let limits: number[] = [];
let estimated = false;

beforeAll(async () => {
  world = await createWorld({
    models: {
      ...quietModels,
      call: async (request) => {
        limits.push(request.maxOutputTokens);
        const reply = await quietModels.call(request);
        return { ...reply, usage: { ...reply.usage, estimated } };
      },
      boundTokens: () => 5_000,
      countTokens: async () => {
        counts += 1;
        return 1_000;
      },
    },
  });
});
beforeEach(() => {
  counts = 0;
  limits = [];
  estimated = false;
});
afterAll(() => world.close());

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

it("accepts a start whose counted prompt the balance covers, though the bound says more", async () => {
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

it("extends the hold before each model call, by an entry of its own", async () => {
  const tenant = await createTenant(world, { agent: { functions: ["calculate"] } });
  const run = await start(tenant);
  const heldAtCalls: string[] = [];
  const models = {
    ...world.models,
    call: async (request: ModelRequest) => {
      const { held } = await world.db.run.findUniqueOrThrow({ where: { id: run.id } });
      heldAtCalls.push(held.toString());
      const toolCalls = [{ id: "a", name: "calculate", arguments: '{"expression":"1+1"}' }];
      const reply = await quietModels.call(request);
      return heldAtCalls.length === 1 ? { ...reply, toolCalls } : reply;
    },
  };
  await executeRun({ ...world, models }, run.id);
  // 5,000 tokens in and 4,000 out are 2.1; before the second call 0.014 and 0.01 were used.
  expect(heldAtCalls).toEqual(["2.1", "2.124"]);
  const entries = await world.db.creditEntry.findMany({
    where: { runId: run.id },
    orderBy: { sequence: "asc" },
  });
  expect(entries.map(({ kind, amount }) => [kind, amount.toString()])).toEqual([
    ["hold", "-0.9"],
    ["hold", "-1.2"],
    ["hold", "-0.024"],
    ["release", "2.124"],
    ["charge", "-0.038"],
  ]);
});

it.each([true, false])("shows whether the tokens are estimated: %s", async (mark) => {
  const tenant = await createTenant(world);
  const member = await createMember(world, tenant, "viewer");
  estimated = mark;
  const run = await start(tenant);
  await executeRun(world, run.id);
  expect(await inspectRun(world, member, run.id)).toMatchObject({ calls: [{ estimated: mark }] });
  expect(await readWholeRun(world, member, run.id)).toMatchObject({ modelCalls: [{ estimated: mark }] });
});
