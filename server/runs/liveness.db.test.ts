import { afterAll, beforeAll, expect, it } from "vitest";
import { createMember, insertRun } from "@/server/testing/runs";
import { createTenant, createWorld, type World } from "@/server/testing/world";
import { readPulse } from "./pulse";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

const isNotFound = expect.objectContaining({ code: "not_found" });

it("tells how long ago the process of a running run was heard of", async () => {
  const tenant = await createTenant(world);
  const viewer = await createMember(world, tenant, "viewer");
  const runId = await insertRun(world, tenant, { status: "Running" });
  const now = world.clock.now();
  await world.db.run.update({
    where: { id: runId },
    data: { admittedAt: now, heartbeatAt: new Date(now.getTime() - 4_000) },
  });
  expect(await readPulse(world, viewer, runId)).toEqual({ silentMs: 4_000, queue: null });
  // One that waits holds no place, and nobody beats for it.
  await world.db.run.update({ where: { id: runId }, data: { waitingSince: now } });
  expect(await readPulse(world, viewer, runId)).toEqual({ silentMs: null, queue: null });
});

it("tells what stands before a run without a place, of its own organization only", async () => {
  const tenant = await createTenant(world, { plan: { concurrency: 1 } });
  const other = await createTenant(world);
  const viewer = await createMember(world, tenant, "viewer");
  const running = await insertRun(world, tenant, { status: "Running" });
  await world.db.run.update({ where: { id: running }, data: { admittedAt: world.clock.now() } });
  await insertRun(world, other, { status: "Pending" });
  await insertRun(world, tenant, { status: "Pending" });
  const runId = await insertRun(world, tenant, { status: "Pending" });
  await insertRun(world, tenant, { status: "Pending" });
  expect(await readPulse(world, viewer, runId)).toEqual({
    silentMs: null,
    queue: { ahead: 1, places: 1, taken: 1 },
  });
  const stranger = await createMember(world, other, "owner");
  await expect(readPulse(world, stranger, runId)).rejects.toEqual(isNotFound);
});
