import { describe, expect, it } from "vitest";
import { admitWaitingRuns, claimRun } from "@/server/runs/engine/claim";
import { startRun } from "@/server/runs/start";
import { createTenant, openWorld } from "@/testing/world";
import { findLostRuns, releaseLostRuns } from "./lost-runs";

/** Runs that were handed over to an Inngest server and never called are handed over again. */

const world = await openWorld();
const tenant = await createTenant(world);

/** Starts a run and gives it a slot, like handing it over to a server. */
async function handOver(): Promise<string> {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const request = { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" } as const;
  const { runId } = await startRun(world, actor, request);
  await admitWaitingRuns(world, null, 100);
  return runId;
}

const find = async (runId: string) => (await findLostRuns(world)).find(({ id }) => id === runId);

it("finds a run that was not called within 30 seconds of being handed over", async () => {
  const runId = await handOver();
  world.clock.advance(30_000);
  expect(await find(runId)).toBeUndefined();
  world.clock.advance(1);
  expect(await find(runId)).toMatchObject({ kind: "agent", epoch: 0, segment: 1 });
  const worker = await world.engine.worker();
  await claimRun(world, runId, worker.id);
  expect(await find(runId)).toBeUndefined();

  // Between two segments, the server stops calling it.
  await world.db.run.update({ where: { id: runId }, data: { claimedBy: null } });
  world.clock.advance(30_001);
  expect(await find(runId)).toMatchObject({ kind: "agent", epoch: 1, segment: 1 });
});

it("hands it over with a new event every two minutes, because a server takes each event once", async () => {
  const runId = await handOver();
  const eventOf = async () => (await find(runId))?.eventId;
  world.clock.advance(119_999);
  expect(await eventOf()).toBe(`${runId}:1.0.1`);
  world.clock.advance(1);
  expect(await eventOf()).toBe(`${runId}:1.0.2`);
  world.clock.advance(120_000);
  expect(await eventOf()).toBe(`${runId}:1.0.3`);
});

it("finds a run that was handed over in the future, after the clock was set back", async () => {
  const runId = await handOver();
  world.clock.advance(-20_000);
  expect(await find(runId)).toBeUndefined();
  world.clock.advance(-3_580_000);
  expect(await find(runId)).toMatchObject({ eventId: `${runId}:1.0.31` });
  world.clock.advance(3_600_000);
});

describe("on the embedded engine", () => {
  const inFlight = async () =>
    (await world.db.organization.findUniqueOrThrow({ where: { id: tenant.orgId } })).inFlight;

  it("a run that a server was given waits for a slot again, and no longer counts as in flight", async () => {
    const runId = await handOver();
    await releaseLostRuns(world);
    const before = await inFlight();
    expect((await world.db.run.findUniqueOrThrow({ where: { id: runId } })).admittedAt).not.toBeNull();
    world.clock.advance(30_001);
    expect(await releaseLostRuns(world)).toBeGreaterThanOrEqual(1);
    const run = await world.db.run.findUniqueOrThrow({ where: { id: runId } });
    expect([run.status, run.admittedAt, run.claimedBy]).toEqual(["Pending", null, null]);
    expect(await inFlight()).toBeLessThan(before);
    expect(await releaseLostRuns(world)).toBe(0);
  });

  it("a run that has a worker stays with it", async () => {
    const runId = await handOver();
    const worker = await world.engine.worker();
    await claimRun(world, runId, worker.id);
    world.clock.advance(60_000);
    await releaseLostRuns(world);
    const run = await world.db.run.findUniqueOrThrow({ where: { id: runId } });
    expect(run).toMatchObject({ claimedBy: worker.id, status: "Running" });
  });
});
