import { afterAll, beforeAll, expect, it } from "vitest";
import { cancelRun } from "@/server/runs/cancel";
import { admitRuns } from "@/server/runs/dispatch";
import { claimRun } from "@/server/runs/lifecycle";
import { startRun } from "@/server/runs/start";
import { createTenant, createWorld, type Tenant, type World } from "@/server/testing/world";
import { findOverdueRuns, findUnwokenRuns, settleOverdueRuns } from "./reconciler";

/** The published bounds: what no engine and no worker looks after any more is found and settled. */

let world: World;
let tenant: Tenant;
beforeAll(async () => {
  world = await createWorld();
  tenant = await createTenant(world);
});
afterAll(() => world.close());

async function start(): Promise<string> {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  return (await startRun(world, actor, { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" })).runId;
}

const read = (id: string) => world.db.run.findUniqueOrThrow({ where: { id } });
const ids = (runs: { runId: string }[]) => runs.map(({ runId }) => runId);

it("hands an admitted run over again that nobody claimed within 10 seconds", async () => {
  const runId = await start();
  await admitRuns(world, 100);
  world.clock.advance(10_000);
  expect(ids(await findUnwokenRuns(world))).not.toContain(runId);
  world.clock.advance(1);
  expect(ids(await findUnwokenRuns(world))).toContain(runId);
  await claimRun(world, runId);
  expect(ids(await findUnwokenRuns(world))).not.toContain(runId);
});

it("wakes a run by a new event every two minutes: an engine takes no event twice, though it may have lost it", async () => {
  const runId = await start();
  const [admitted] = (await admitRuns(world, 100)).filter((wakeUp) => wakeUp.runId === runId);
  const eventOf = async () => (await findUnwokenRuns(world)).find((one) => one.runId === runId)?.eventId;
  world.clock.advance(119_999);
  expect([admitted?.eventId, await eventOf()]).toEqual([runId, runId]);
  world.clock.advance(1);
  expect(await eventOf()).toBe(`${runId}:0.1`);
  world.clock.advance(120_000);
  expect(await eventOf()).toBe(`${runId}:0.2`);
});

it("finds a running run without a sign of life for a minute", async () => {
  const runId = await start();
  await claimRun(world, runId, "engine-run");
  world.clock.advance(60_000);
  expect(ids(await findOverdueRuns(world))).not.toContain(runId);
  world.clock.advance(1);
  const silent = { runId, kind: "agent", epoch: 1, eventId: `${runId}:1.0`, engineRunId: "engine-run" };
  expect(await findOverdueRuns(world)).toContainEqual(silent);
  world.clock.advance(60_000);
  expect(await findOverdueRuns(world)).toContainEqual({ ...silent, eventId: `${runId}:1.1` });
});

it("takes no sign of life from the future for one: the clock was put back by an hour", async () => {
  const [admitted, running] = [await start(), await start()];
  await admitRuns(world, 100);
  await claimRun(world, running, "engine-run");
  world.clock.advance(-3_600_000);
  expect(await findUnwokenRuns(world)).toContainEqual({
    runId: admitted,
    kind: "agent",
    epoch: 0,
    eventId: admitted,
  });
  expect(ids(await findOverdueRuns(world))).toContain(running);
  world.clock.advance(3_600_000);
});

it("fails a run 30 seconds past its deadline and gives its hold back", async () => {
  const runId = await start();
  await claimRun(world, runId);
  world.clock.advance(930_000);
  await settleOverdueRuns(world);
  expect((await read(runId)).status).toBe("Running");
  world.clock.advance(1);
  await settleOverdueRuns(world);
  const run = await read(runId);
  expect(run).toMatchObject({ status: "Failed", errorCode: "deadline_exceeded" });
  expect(run.held.toNumber()).toBe(0);
});

it("carries a cancel out that its worker did not, within 15 seconds", async () => {
  const runId = await start();
  await claimRun(world, runId);
  await cancelRun(world, tenant.orgId, runId, "Ada");
  world.clock.advance(15_001);
  await settleOverdueRuns(world);
  expect(await read(runId)).toMatchObject({ status: "Cancelled", cancelledBy: "Ada", errorMessage: null });
});

it("gives a run up that could not be admitted for 24 hours", async () => {
  const runId = await start();
  world.clock.advance(24 * 3600_000);
  await settleOverdueRuns(world);
  expect((await read(runId)).status).toBe("Pending");
  world.clock.advance(1);
  await settleOverdueRuns(world);
  expect(await read(runId)).toMatchObject({ status: "Failed", errorCode: "not_admitted", startedAt: null });
});

it("leaves a run its whole deadline that waited nearly 24 hours for its place", async () => {
  const runId = await start();
  world.clock.advance(24 * 3600_000 - 60_000);
  await claimRun(world, runId);
  world.clock.advance(120_000);
  await settleOverdueRuns(world);
  expect((await read(runId)).status).toBe("Running");
});

it("settles the others although one run cannot be", async () => {
  const [broken, sound] = [await start(), await start()];
  for (const runId of [broken, sound]) await claimRun(world, runId);
  // What it used is more than its hold and the balance together: the database refuses the charge.
  await world.pool.query("UPDATE runs SET credits_used = 1000 WHERE id = $1", [broken]);
  world.clock.advance(931_000);
  await settleOverdueRuns(world);
  expect((await read(broken)).status).toBe("Running");
  expect((await read(sound)).status).toBe("Failed");
  expect(
    world.log.entries.some(
      ({ level, ...entry }) => level === "error" && JSON.stringify(entry).includes(broken),
    ),
  ).toBe(true);
});
