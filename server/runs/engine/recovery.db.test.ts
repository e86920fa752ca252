import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { onPausePoint, type PausePoint } from "@/server/base/pause-points";
import type { ModelReply } from "@/server/work/models/port";
import { executeSegment, replaceWorker, startEngine } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import {
  createTenant,
  createWorld,
  openWorld,
  scriptedModels,
  type Tenant,
  type World,
} from "@/testing/world";
import { startRun } from "../start";
import { admitWaitingRuns } from "./claim";
import { findClaimedRuns, releaseRuns } from "./run-state";
import { WorkerLost } from "./write/writer";

let beside: World;
let modelCalls = 0;
let answer: Partial<ModelReply> = {};

const world = await openWorld();
beforeEach(async () => {
  modelCalls = 0;
  answer = {};
  const models = scriptedModels(() => {
    modelCalls += 1;
    return answer;
  });
  beside = await createWorld({ beside: world, models });
});
afterEach(async () => {
  onPausePoint(null);
  vi.restoreAllMocks();
  await beside.close();
});

async function start(process: World, tenant: Tenant): Promise<string> {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const request = { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" } as const;
  return (await startRun(process, actor, request)).runId;
}

function once(points: Partial<Record<PausePoint, () => Promise<void> | void>>): void {
  const left = new Map(Object.entries(points));
  onPausePoint(async (point) => {
    const happens = left.get(point);
    left.delete(point);
    await happens?.();
  });
}

function isNamed(query: unknown, name: string): boolean {
  return typeof query === "object" && query !== null && "name" in query && query.name === name;
}

async function expectCompleted(runId: string, tenant: Tenant): Promise<void> {
  const status = async () => (await world.db.run.findUniqueOrThrow({ where: { id: runId } })).status;
  await expect.poll(status).toBe("Completed");
  await expectSoundLedger(world, tenant);
}

it("runs that a worker claimed without hearing of it are executed", async () => {
  const tenant = await createTenant(world);
  const runId = await start(world, tenant);
  const { id } = await beside.engine.worker();
  await admitWaitingRuns(beside, { worker: id, slots: 10 });
  startEngine(beside);
  await expectCompleted(runId, tenant);
  expect(modelCalls).toBe(1);
});

it("runs that it executes are not given back", async () => {
  const tenant = await createTenant(world);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  once({ "act:before": () => held });
  startEngine(beside);
  const runId = await start(beside, tenant);
  const looks = vi.spyOn(beside.pool, "query");
  const asked = () => looks.mock.calls.filter(([query]) => isNamed(query, "find-claimed-runs")).length;
  await expect.poll(asked).toBeGreaterThanOrEqual(2);
  release();
  await expectCompleted(runId, tenant);
  expect(await world.db.run.findUniqueOrThrow({ where: { id: runId } })).toMatchObject({ epoch: 1 });
});

it("a claim that was renewed since it was found is not given back", async () => {
  const tenant = await createTenant(world);
  const runId = await start(world, tenant);
  const { id } = await beside.engine.worker();
  await admitWaitingRuns(beside, { worker: id, slots: 10 });
  const found = await findClaimedRuns(beside.pool, [id]);
  expect(found).toEqual([{ id: runId, epoch: 1 }]);
  await world.db.run.update({ where: { id: runId }, data: { epoch: 2 } });
  await releaseRuns(beside, id, found);
  expect(await world.db.run.findUniqueOrThrow({ where: { id: runId } })).toMatchObject({ claimedBy: id });
  const { inFlight } = await world.db.organization.findUniqueOrThrow({ where: { id: tenant.orgId } });
  expect(inFlight).toBe(1);
});

it("a segment that fails leaves its run to the Inngest server's next call", async () => {
  const tenant = await createTenant(world);
  const runId = await start(world, tenant);
  await admitWaitingRuns(world, { worker: null, slots: 10 });
  once({
    "end:before": () => {
      throw new Error("an error of the platform");
    },
  });
  await expect(executeSegment(beside, runId)).rejects.toThrow("an error of the platform");
  expect(await executeSegment(world, runId)).toBe("ended");
  expect(modelCalls).toBe(1);
  await expectCompleted(runId, tenant);
});

it.each([
  ["rows", 2],
  ["rows and their steps", 3],
])("a run leaves its worker only when the %s of the runs that it called are committed", async (_, calls) => {
  const tenant = await createTenant(world);
  const steps = ["a", "b"].map((id) => ({ id, uses: "calculate", with: { expression: "1 + 1" } }));
  const definition = JSON.stringify({ parameters: { type: "object" }, steps, output: "{{ steps.b }}" });
  await world.db.toolVersion.updateMany({ where: { toolId: tenant.toolId }, data: { definition } });
  answer = { toolCalls: [{ id: "a", name: "adder", arguments: "{}" }] };
  const runId = await start(world, tenant);
  await admitWaitingRuns(world, { worker: null, slots: 10 });
  const { figures } = await beside.engine.worker();
  let written = 0;
  once({
    "yield:before": () => {
      written = figures().journal.items;
    },
  });
  // A model call, its call of the tool, and possibly the tool's first step.
  expect(await executeSegment(beside, runId, { calls })).toBe("paused");
  expect(await executeSegment(world, runId)).toBe("ended");
  expect(figures().journal.items).toBe(written);
});

it.each([
  ["seven times", 0, 7],
  ["after five errors of the platform", 5, 1],
])("a run completes, without repeated work, if the database goes away %s", async (_, before, outages) => {
  const tenant = await createTenant(world);
  const wait = globalThis.setTimeout;
  // The waits between two attempts take no time.
  const isWait = (work: () => void, ms = 0) => work.name === "done" && ms >= 500;
  vi.spyOn(globalThis, "setTimeout").mockImplementation((work, ms) => wait(work, isWait(work, ms) ? 0 : ms));
  let errors = 0;
  onPausePoint(async (point) => {
    if (point !== "end:before" || errors === before + outages) return;
    errors += 1;
    if (errors <= before) throw new Error("an error of the platform");
    throw Object.assign(new Error("the database went away"), { code: "ECONNRESET" });
  });
  startEngine(beside);
  await expectCompleted(await start(beside, tenant), tenant);
  expect(errors).toBe(before + outages);
  expect(modelCalls).toBe(1);
});

it("a process that was stalled executes nothing of a run that others took over", async () => {
  const tenant = await createTenant(world);
  const runId = await start(world, tenant);
  await admitWaitingRuns(world, { worker: null, slots: 10 });
  const now = performance.now.bind(performance);
  once({
    "act:before": async () => {
      await replaceWorker(beside);
      vi.spyOn(performance, "now").mockImplementation(() => now() + 5_000);
    },
  });
  await expect(executeSegment(beside, runId)).rejects.toThrow(WorkerLost);
  expect(modelCalls).toBe(0);
});

it("fails only the run whose configuration cannot be read", async () => {
  const [broken, other] = [await createTenant(world), await createTenant(world)];
  const unreadable = await start(beside, broken);
  const readable = await start(beside, other);
  await world.pool.query("UPDATE configurations SET document = '{}' WHERE organization_id = $1", [
    broken.orgId,
  ]);
  await startEngine(beside);
  await expectCompleted(readable, other);
  const status = async () => (await world.db.run.findUniqueOrThrow({ where: { id: unreadable } })).status;
  await expect.poll(status).toBe("Failed");
  const { errorCode } = await world.db.run.findUniqueOrThrow({ where: { id: unreadable } });
  expect(errorCode).toBe("internal_error");
  await expectSoundLedger(world, broken);
});
