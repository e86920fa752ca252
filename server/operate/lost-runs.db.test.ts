import { afterAll, beforeAll, expect, it } from "vitest";
import { admitWaitingRuns, claimRun } from "@/server/runs/engine/claim";
import { removeWorker } from "@/server/runs/engine/worker";
import { startRun } from "@/server/runs/start";
import { createTenant, createWorld, type Tenant, type World } from "@/testing/world";
import { findLostRuns } from "./lost-runs";

/** Runs that an Inngest server was given and never called: they are handed over again. */

let world: World;
let tenant: Tenant;
beforeAll(async () => {
  world = await createWorld();
  tenant = await createTenant(world);
});
afterAll(() => world.close());

/** Starts a run and gives it a slot, as the hand-over to a server does. */
async function handOver(): Promise<string> {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const request = { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" } as const;
  const { runId } = await startRun(world, actor, request);
  await admitWaitingRuns(world, null, 100);
  return runId;
}

const find = async (runId: string) => (await findLostRuns(world)).find(({ id }) => id === runId);

it("finds a run that nobody has called 30 seconds after it was handed over", async () => {
  const runId = await handOver();
  world.clock.advance(30_000);
  expect(await find(runId)).toBeUndefined();
  world.clock.advance(1);
  expect(await find(runId)).toMatchObject({ kind: "agent", epoch: 0, segment: 1 });
  const worker = await world.engine.worker();
  await claimRun(world, runId, worker.id);
  expect(await find(runId)).toBeUndefined();

  // Its worker dies; the server may have given up calling it.
  await removeWorker(world.pool, worker.id, false);
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
