// @module-tag once
import { beforeEach, expect, it } from "vitest";
import { cancelRun } from "@/server/runs/cancel";
import { startRun } from "@/server/runs/start";
import { insertRun } from "@/testing/runs";
import { createTenant, openWorld, type Tenant } from "@/testing/world";
import { findRunIds } from "./find";
import { indexEndedRuns } from "./run-index";

let tenant: Tenant;
const world = await openWorld();
beforeEach(async () => {
  await indexEndedRuns(world, 1_000);
  tenant = await createTenant(world);
});

const insertRuns = async (count: number) => {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push(await insertRun(world, tenant));
  return ids.toReversed();
};
const queued = async () => (await world.pool.query("SELECT 1 FROM run_index_queue")).rowCount;
const indexed = () => world.db.runIndexEntry.count({ where: { organizationId: tenant.orgId } });
const findTools = () => findRunIds(world, tenant.orgId, { filter: { kind: "tool" }, page: { limit: 1_000 } });

it("finds an ended run before, during and after indexing", async () => {
  const operator = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const request = { kind: "tool", targetId: tenant.toolId, input: { a: 1, b: 2 } } as const;
  const { runId } = await startRun(world, operator, request);
  const cancelled = () =>
    findRunIds(world, tenant.orgId, { filter: { status: ["Cancelled"] }, page: { limit: 10 } });
  expect([await queued(), await cancelled()]).toEqual([0, []]);
  await cancelRun(world, tenant.orgId, { runId, by: "a test" });
  expect([await queued(), await cancelled()]).toEqual([1, [runId]]);
  expect(await indexEndedRuns(world)).toBe(1);
  expect([await queued(), await indexed(), await cancelled()]).toEqual([0, 1, [runId]]);
  expect(await indexEndedRuns(world)).toBe(0);
});

it("takes at most the given number of runs, and shares them among processes", async () => {
  await insertRuns(60);
  expect(await indexEndedRuns(world, 10)).toBe(10);
  const taken = await Promise.all(Array.from({ length: 8 }, () => indexEndedRuns(world, 20)));
  let sum = taken.reduce((total, each) => total + each, 0);
  for (let more = 1; more > 0; sum += more) more = await indexEndedRuns(world, 20);
  expect([sum, await indexed(), await queued()]).toEqual([50, 60, 0]);
});

it("leaves the batch of a dead process in the queue, and indexes the others", async () => {
  const ids = await insertRuns(6);
  const dying = await world.pool.connect();
  await dying.query("BEGIN");
  await dying.query("SELECT 1 FROM run_index_queue WHERE run_id = ANY ($1::uuid[]) FOR UPDATE", [
    ids.slice(0, 2),
  ]);
  expect(await indexEndedRuns(world)).toBe(4);
  dying.release(true);
  await expect.poll(() => indexEndedRuns(world)).toBe(2);
  expect([await indexed(), await queued()]).toEqual([6, 0]);
});

it("leaves out a run that is deleted at this moment, and indexes the others of its batch", async () => {
  const [first] = await insertRuns(3);
  const deleting = await world.pool.connect();
  await deleting.query("BEGIN");
  await deleting.query("DELETE FROM runs WHERE id = $1", [first]);
  const indexing = indexEndedRuns(world);
  const waiting =
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  await expect.poll(async () => (await world.pool.query(waiting)).rowCount).toBe(1);
  await deleting.query("COMMIT");
  deleting.release();
  expect(await indexing).toBe(3);
  expect([await indexed(), await queued()]).toEqual([2, 0]);
});

it("shows a run that is queued twice once, and drops removed runs from the queue", async () => {
  const [newer = "", older = ""] = await insertRuns(2);
  await indexEndedRuns(world);
  await world.pool.query("INSERT INTO run_index_queue VALUES ($1, $3), ($1, $3), ($2, $3)", [
    newer,
    older,
    tenant.orgId,
  ]);
  expect(await findTools()).toEqual([newer, older]);
  await world.db.run.delete({ where: { id: older } });
  expect(await indexEndedRuns(world)).toBe(3);
  expect([await findTools(), await indexed()]).toEqual([[newer], 1]);
});

it("lets every search find every run during indexing", async () => {
  const ids = await insertRuns(120);
  let done = false;
  const indexing = (async () => {
    while ((await indexEndedRuns(world, 3)) > 0);
    done = true;
  })();
  let looks = 0;
  for (; !done; looks += 1) expect(await findTools()).toEqual(ids);
  await indexing;
  expect(looks).toBeGreaterThan(3);
});
