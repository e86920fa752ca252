import { expect, it } from "vitest";
import { ProcessMemory } from "@/server/guard/limits/process-memory";
import type { Services } from "@/server/services";
import { startEngine } from "@/testing/execute";
import { createTenant, openWorld, scriptedModels, type Tenant } from "@/testing/world";
import { startRun } from "../start";
import { admitWaitingRuns } from "./claim";
import { findSuspect, findWaiting, uncountCrash } from "./run-state";
import { isOfSuspects, type RunQueue } from "./suspects";
import { openWorker, removeWorker } from "./worker";

let release: (() => void) | undefined;
const world = await openWorld({
  models: scriptedModels(async () => {
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return {};
  }),
});

async function start(tenant: Tenant): Promise<string> {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  return (await startRun(world, actor, { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" })).runId;
}
const read = (id: string) => world.db.run.findUniqueOrThrow({ where: { id } });
const options = {
  freeSlots: () => 0,
  executing: () => 0,
  onAdmitted: () => {},
  onRejected: () => {},
  onLost: () => {},
};

it("counts the crashes of a run's workers, and keeps suspects apart from the second one on", async () => {
  const tenant = await createTenant(world);
  const [suspect, other] = [await start(tenant), await start(tenant)];
  const admit = async (queue: RunQueue, services: Services = world) => {
    const { id } = await openWorker(services, options);
    const admitted = await admitWaitingRuns(world, { worker: id, slots: 10, queue });
    return { id, runs: admitted.map((run) => run.id).sort() };
  };
  const stopped = await admit("ordinary");
  await removeWorker(world.pool, stopped.id);
  expect([await read(suspect), await read(other)]).toMatchObject([{ crashes: 0 }, { crashes: 0 }]);
  const first = await admit("ordinary");
  expect(first.runs).toEqual([suspect, other].sort());
  await removeWorker(world.pool, first.id, { crashed: true });
  expect(await findSuspect(world.pool)).toEqual([]);
  const second = await admit("ordinary");
  expect(second.runs).toEqual([suspect, other].sort());
  await removeWorker(world.pool, second.id, { crashed: true });
  // This process lives: it has only stalled.
  await uncountCrash(world.pool, [[other]]);
  expect([await read(suspect), await read(other)]).toMatchObject([{ crashes: 2 }, { crashes: 1 }]);

  const waiting = async (queue: RunQueue) => (await findWaiting(world.pool, [isOfSuspects(queue)])).length;
  expect(await findSuspect(world.pool)).toEqual([{ id: suspect }]);
  const ordinary = await admit("ordinary");
  expect(ordinary.runs).toEqual([other]);
  expect([await waiting("ordinary"), await waiting("suspects"), await waiting("all")]).toEqual([0, 1, 1]);
  const isolated = await admit("suspects");
  expect(isolated.runs).toEqual([suspect]);
  expect(await waiting("all")).toBe(0);
  await removeWorker(world.pool, isolated.id);
  const all = await admit("all");
  expect(all.runs).toEqual([suspect]);
  for (const { id } of [ordinary, all]) await removeWorker(world.pool, id);
  for (const id of [suspect, other])
    await world.db.run.update({ where: { id }, data: { cancelRequestedAt: world.clock.now() } });
});

it("takes no further run while the memory is full and another one executes", async () => {
  let used = 90;
  world.memory = new ProcessMemory({ limit: 100, used: () => used });
  const tenant = await createTenant(world);
  startEngine(world);
  const first = await start(tenant);
  await expect.poll(async () => (await read(first)).claimedBy, { timeout: 10_000 }).not.toBeNull();
  await expect.poll(() => release).toBeDefined();
  const second = await start(tenant);
  expect(await read(second)).toMatchObject({ status: "Pending", admittedAt: null });
  used = 70;
  await expect.poll(async () => (await read(second)).claimedBy, { timeout: 10_000 }).not.toBeNull();
});
