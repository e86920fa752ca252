import { expect, it } from "vitest";
import { mintOrgId } from "@/server/base/mint-org-id";
import { admitWaitingRuns, claimRun } from "@/server/runs/engine/claim";
import { pauseRun } from "@/server/runs/engine/run-state";
import { startRun } from "@/server/runs/start";
import { replaceWorker } from "@/testing/execute";
import { createTenant, openWorld } from "@/testing/world";
import { releaseLostRuns } from "./lost-runs";

const world = await openWorld();
const tenant = await createTenant(world);

async function handOver(): Promise<string> {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const request = { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" } as const;
  const { runId } = await startRun(world, actor, request);
  await admitWaitingRuns(world, { worker: null, slots: 100 });
  return runId;
}

const inFlight = async () =>
  (await world.db.organization.findUniqueOrThrow({ where: { id: tenant.orgId } })).inFlight;
const read = (runId: string) => world.db.run.findUniqueOrThrow({ where: { id: runId } });
async function keepsSlot(runId: string): Promise<boolean> {
  await releaseLostRuns(world);
  return (await read(runId)).admittedAt !== null;
}

it("waits for a slot again, and no longer counts as in flight, 30 seconds after its hand-over", async () => {
  const runId = await handOver();
  const before = await inFlight();
  world.clock.advance(30_000);
  expect(await keepsSlot(runId)).toBe(true);
  world.clock.advance(1);
  expect(await keepsSlot(runId)).toBe(false);
  expect(await read(runId)).toMatchObject({ status: "Pending", claimedBy: null });
  expect(await inFlight()).toBe(before - 1);
  expect(await releaseLostRuns(world)).toBe(0);
});

it("gets another hand-over each time, and longer to be called: a slow server must not lose all of them", async () => {
  const runId = await handOver();
  for (const [handedOver, seconds] of [
    [1, 30],
    [2, 60],
    [3, 90],
  ] as const) {
    expect((await read(runId)).handOver).toBe(handedOver);
    world.clock.advance(seconds * 1000);
    expect(await keepsSlot(runId)).toBe(true);
    world.clock.advance(1);
    expect(await keepsSlot(runId)).toBe(false);
    await admitWaitingRuns(world, { worker: null, slots: 100 });
  }
});

it("is executed only for its last hand-over", async () => {
  const runId = await handOver();
  world.clock.advance(30_001);
  await releaseLostRuns(world);
  await admitWaitingRuns(world, { worker: null, slots: 100 });
  const worker = await world.engine.worker();
  expect(await claimRun(world, { runId, handOver: 1 }, worker.id)).toBeNull();
  expect(await claimRun(world, { runId, handOver: 2 }, worker.id)).not.toBeNull();
});

it("is taken back if it was handed over in the future: the clock was set back", async () => {
  const runId = await handOver();
  world.clock.advance(-20_000);
  expect(await keepsSlot(runId)).toBe(true);
  world.clock.advance(-3_580_000);
  expect(await keepsSlot(runId)).toBe(false);
  world.clock.advance(3_600_000);
});

it("stays with its worker, and between two calls with the server", async () => {
  const runId = await handOver();
  const worker = await world.engine.worker();
  await claimRun(world, { runId }, worker.id);
  world.clock.advance(600_000);
  expect(await keepsSlot(runId)).toBe(true);
  const { epoch, organizationId: orgId } = await read(runId);
  await pauseRun(world, { run: { id: runId, orgId: mintOrgId(orgId), epoch }, worker }, { inOrder: true });
  world.clock.advance(30_000);
  expect(await keepsSlot(runId)).toBe(true);
  world.clock.advance(1);
  expect(await keepsSlot(runId)).toBe(false);
});

it("waits for a slot again when the worker that paused it is replaced, wherever the run stood", async () => {
  const runId = await handOver();
  const worker = await world.engine.worker();
  const claimed = await claimRun(world, { runId }, worker.id);
  if (claimed === null) throw new Error("not claimed");
  await pauseRun(world, { run: claimed, worker }, { inOrder: true });
  await replaceWorker(world);
  expect(await read(runId)).toMatchObject({ status: "Running", admittedAt: null, pausedBy: null });
  expect(await inFlight()).toBe(
    await world.db.run.count({ where: { admittedAt: { not: null }, finishedAt: null } }),
  );
});
