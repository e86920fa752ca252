import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { createEmbeddedDriver } from "@/inngest/embedded";
import { type DatabaseProxy, startDatabaseProxy } from "@/server/testing/database-proxy";
import { replaceWorker } from "@/server/testing/execute";
import { expectSoundLedger } from "@/server/testing/ledger";
import { createTenant, createWorld, quietModels, type Tenant, type World } from "@/server/testing/world";
import { startRun } from "../start";
import { admitWaitingRuns } from "./claim";
import { onPausePoint, type PausePoint } from "./pause-points";
import { WorkerLost } from "./writer";

/** Connections that break between a commit and its answer, faults in the middle of a run, and a process that was stalled. */

let world: World;
let proxy: DatabaseProxy;
/** The process under test; it reaches the database through the proxy. */
let beside: World;
let modelCalls = 0;

beforeAll(async () => {
  world = await createWorld();
  proxy = await startDatabaseProxy(world.env.databaseUrl);
});
beforeEach(async () => {
  modelCalls = 0;
  const models = {
    ...quietModels,
    call: async (request: Parameters<typeof quietModels.call>[0]) => {
      modelCalls += 1;
      return quietModels.call(request);
    },
  };
  beside = await createWorld({ beside: world, models, databaseUrl: proxy.url });
});
afterEach(async () => {
  onPausePoint(null);
  vi.restoreAllMocks();
  await beside.close();
});
afterAll(async () => {
  await proxy.close();
  await world.close();
});

async function start(process: World, tenant: Tenant): Promise<string> {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  return (await startRun(process, actor, { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" })).runId;
}

/** Does something when a point is reached for the first time. */
function once(points: Partial<Record<PausePoint, () => Promise<void> | void>>): void {
  const left = new Map(Object.entries(points));
  onPausePoint(async (point) => {
    const happens = left.get(point);
    left.delete(point);
    await happens?.();
  });
}

async function expectCompleted(runId: string, tenant: Tenant): Promise<void> {
  const status = async () => (await world.db.run.findUniqueOrThrow({ where: { id: runId } })).status;
  await expect.poll(status, { timeout: 20_000 }).toBe("Completed");
  await expectSoundLedger(world, tenant);
}

/** How many flushes of a lane are committed. */
async function countFlushes(lane: string): Promise<number> {
  const { id } = await beside.engine.worker();
  const { rows } = await world.pool.query<{ flush: number }>(
    "SELECT flush::int AS flush FROM worker_lanes WHERE worker_id = $1 AND lane = $2",
    [id, lane],
  );
  return rows[0]?.flush ?? 0;
}

it.each(["accounts", "journal"] as const)(
  "what a flush of the lane %s committed is not written again when its answer was lost",
  async (lane) => {
    const tenant = await createTenant(world);
    beside.engine.start(createEmbeddedDriver(beside.engine));
    await beside.engine.worker();
    let before = 0;
    once({
      [`${lane}:before`]: async () => {
        before = await countFlushes(lane);
        proxy.dropAnswers();
      },
      [`${lane}:sent`]: async () => {
        await expect.poll(() => countFlushes(lane), { timeout: 10_000 }).toBe(before + 1);
        proxy.cut();
      },
    });
    const runId = await start(beside, tenant);
    await expectCompleted(runId, tenant);
    expect(modelCalls).toBe(1);
    expect(await world.db.run.count({ where: { organizationId: tenant.orgId } })).toBe(1);
  },
);

it("a flush that never arrived is sent again", async () => {
  const tenant = await createTenant(world);
  beside.engine.start(createEmbeddedDriver(beside.engine));
  await beside.engine.worker();
  once({ "accounts:before": () => proxy.cut() });
  await expectCompleted(await start(beside, tenant), tenant);
});

it("runs that a worker claimed without hearing of it are executed", async () => {
  const tenant = await createTenant(world);
  const runId = await start(world, tenant);
  const { id } = await beside.engine.worker();
  await admitWaitingRuns(beside, id, 10);
  beside.engine.start(createEmbeddedDriver(beside.engine));
  await expectCompleted(runId, tenant);
  expect(modelCalls).toBe(1);
});

it("a fault of the platform ends no run, however often it comes, and repeats nothing that has finished", async () => {
  const tenant = await createTenant(world);
  let faults = 0;
  onPausePoint(async (point) => {
    if (point !== "end:before" || faults === 7) return;
    faults += 1;
    throw Object.assign(new Error("the database went away"), { code: "ECONNRESET" });
  });
  beside.engine.start(createEmbeddedDriver(beside.engine));
  await expectCompleted(await start(beside, tenant), tenant);
  expect(faults).toBe(7);
  expect(modelCalls).toBe(1);
});

it("a process that was stalled does not act for a run that others took over", async () => {
  const tenant = await createTenant(world);
  const runId = await start(world, tenant);
  await admitWaitingRuns(world, null, 10);
  const now = performance.now.bind(performance);
  once({
    "act:before": async () => {
      await replaceWorker(beside);
      vi.spyOn(performance, "now").mockImplementation(() => now() + 5_000);
    },
  });
  await expect(beside.engine.executeSegment(runId)).rejects.toThrow(WorkerLost);
  expect(modelCalls).toBe(0);
});
