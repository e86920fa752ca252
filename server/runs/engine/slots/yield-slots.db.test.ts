import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { mintOrgId } from "@/server/base/mint-org-id";
import { endOverdueRuns } from "@/server/operate/overdue-runs";
import { inspectRun } from "@/server/runs/read/inspect/inspect";
import type { ModelReply, ModelRequest } from "@/server/work/models/port";
import { executeRun, executeSegment, startEngine } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import { statementName, untilSharesAreKnown } from "@/testing/process";
import { createMember } from "@/testing/runs";
import { insertTool } from "@/testing/tools";
import {
  createTenant,
  createWorld,
  openWorld,
  scriptedModels,
  type Tenant,
  type World,
} from "@/testing/world";
import { cancelRun } from "../../cancel";
import { startRun } from "../../start";
import { admitWaitingRuns, readClaimedRun } from "../claim";
import type { ClaimedRun } from "../claimed-run";
import { yieldSlot } from "../run-state";

let play: (request: ModelRequest) => Partial<ModelReply> | Promise<Partial<ModelReply>>;
let busy: World;

const world = await openWorld({
  models: scriptedModels((request) => play(request)),
});
beforeEach(async () => {
  busy = await createWorld({ beside: world, models: world.models, slots: 2 });
});
afterEach(async () => {
  await busy.close();
  const open = await world.db.run.findMany({ where: { finishedAt: null, parentRunId: null } });
  for (const run of open)
    await cancelRun(world, mintOrgId(run.organizationId), { runId: run.id, by: "a test" });
});

const read = (id: string) => world.db.run.findUniqueOrThrow({ where: { id } });
const statusOf = (id: string) => async () => (await read(id)).status;

async function start(tenant: Tenant, { process = world, userMessage = "Hi" } = {}): Promise<string> {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  return (await startRun(process, actor, { kind: "agent", targetId: tenant.agentId, userMessage })).runId;
}

async function startClaimed(tenant: Tenant): Promise<{ run: ClaimedRun; workerId: string }> {
  const runId = await start(tenant);
  const { id: workerId } = await world.engine.worker();
  await admitWaitingRuns(world, { worker: workerId, slots: 100 });
  const run = await readClaimedRun(world, runId);
  if (run === null) throw new Error("the run was not claimed");
  return { run, workerId };
}

const yieldAs = (workerId: string, run: ClaimedRun) =>
  yieldSlot(
    world,
    { run, worker: { id: workerId } },
    { sequence: run.sequence + 1, event: run.sequence + 1 },
  );

async function startWaiting(tenant: Tenant): Promise<ClaimedRun> {
  const { run, workerId } = await startClaimed(tenant);
  expect(await yieldAs(workerId, run)).toBe(true);
  return run;
}

it("has no worker after that, is claimed again for its next segment, and rejects the worker that had it", async () => {
  const tenant = await createTenant(world);
  const { run, workerId } = await startClaimed(tenant);
  expect(await yieldAs(workerId, run)).toBe(true);
  expect(await read(run.id)).toMatchObject({
    status: "Running",
    admittedAt: null,
    claimedBy: null,
    epoch: 1,
  });
  expect(await yieldAs(workerId, run)).toBe(false);
  await expectSoundLedger(world, tenant);
  expect(await admitWaitingRuns(world, { worker: workerId, slots: 100 })).toEqual([
    { id: run.id, kind: "agent", handOver: 0 },
  ]);
  expect(await yieldAs(workerId, run)).toBe(false);
  const again = await readClaimedRun(world, run.id);
  expect(again).toMatchObject({ epoch: 2, startedAt: run.startedAt });
  await world.pool.query("UPDATE runs SET claimed_by = NULL WHERE id = $1", [run.id]);
});

it("ends immediately when it is cancelled while it waits", async () => {
  const tenant = await createTenant(world);
  const { id } = await startWaiting(tenant);
  expect(await cancelRun(world, tenant.orgId, { runId: id, by: "Ada" })).toBe(true);
  expect(await read(id)).toMatchObject({ status: "Cancelled", cancelledBy: "Ada" });
  const viewer = await createMember(world, tenant, "viewer");
  const now = world.clock.now().toISOString();
  expect((await inspectRun(world, viewer, { runId: id })).run.turns).toEqual([{ from: now, to: now }]);
  await expectSoundLedger(world, tenant);
});

it("does not yield when it is to be cancelled: its worker ends it", async () => {
  const tenant = await createTenant(world);
  const { run, workerId } = await startClaimed(tenant);
  await cancelRun(world, tenant.orgId, { runId: run.id, by: "Ada" });
  expect(await yieldAs(workerId, run)).toBe(false);
  await world.pool.query("UPDATE runs SET claimed_by = NULL WHERE id = $1", [run.id]);
});

it("ends at its deadline while it waits", async () => {
  const tenant = await createTenant(world);
  const { id } = await startWaiting(tenant);
  world.clock.advance(930_002);
  await endOverdueRuns(world);
  expect(await read(id)).toMatchObject({ status: "Failed", errorCode: "deadline_exceeded" });
  await expectSoundLedger(world, tenant);
});

it("is not executed by a call of the segment that has yielded", async () => {
  const tenant = await createTenant(world);
  const { id } = await startWaiting(tenant);
  play = () => {
    throw new Error("no model call is due");
  };
  expect(await executeSegment(world, id)).toBe("yielded");
  expect(await read(id)).toMatchObject({ status: "Running", claimedBy: null, epoch: 1 });
  play = () => ({});
  await executeRun(world, id);
  expect(await read(id)).toMatchObject({ status: "Completed", epoch: 2 });
});

const calculates = (request: ModelRequest, rounds: number): Partial<ModelReply> => {
  const done = request.messages.filter(({ role }) => role === "tool").length;
  return done === rounds
    ? { content: "Done." }
    : { toolCalls: [{ id: `c${done}`, name: "calculate", arguments: '{"expression":"1+1"}' }] };
};

function heldCalls(answer: (request: ModelRequest) => Partial<ModelReply>) {
  const open = new Map<string, () => void>();
  const counts = new Map<string, number>();
  play = async (request) => {
    const message = request.messages.find(({ role }) => role === "user")?.content ?? "";
    counts.set(message, (counts.get(message) ?? 0) + 1);
    await new Promise<void>((resolve) => open.set(message, resolve));
    return answer(request);
  };
  return {
    count: (message: string) => counts.get(message) ?? 0,
    async release(message: string, call: number) {
      await expect.poll(() => counts.get(message) ?? 0).toBe(call);
      open.get(message)?.();
    },
  };
}

function countLooks({ pool }: World): () => number {
  const query = vi.spyOn(pool, "query");
  return () => query.mock.calls.filter((call: unknown[]) => statementName(call) === "count-waiting").length;
}

it("happens between two calls when another organization waits; the run continues where it was", async () => {
  const tenant = await createTenant(world);
  const second = await createTenant(world);
  const viewer = await createMember(world, tenant, "viewer");
  const calls = heldCalls((request) => calculates(request, 2));
  startEngine(busy);
  const runs = [
    await start(tenant, { process: busy, userMessage: "first" }),
    await start(tenant, { process: busy, userMessage: "second" }),
  ] as const;
  // Both have a slot before the other organization can get one that was reserved for a claim.
  for (const message of ["first", "second"]) await expect.poll(() => calls.count(message)).toBe(1);
  const other = await start(second, { process: busy, userMessage: "other" });
  await untilSharesAreKnown(busy);
  // Exactly one of the two yields when it has finished a call.
  await calls.release("first", 1);
  await expect.poll(async () => (await read(runs[0])).admittedAt).toBeNull();
  expect(await read(runs[0])).toMatchObject({ status: "Running", claimedBy: null });
  const from = world.clock.now().toISOString();
  const waiting = await inspectRun(world, viewer, { runId: runs[0] });
  expect(waiting.run).toMatchObject({ waiting: true, turns: [{ from, to: null }] });
  expect(waiting.calls).toMatchObject([{ status: "Completed" }]);
  for (const call of [1, 2, 3]) await calls.release("second", call);
  await expect.poll(statusOf(runs[1])).toBe("Completed");
  expect((await read(runs[1])).yieldedAt).toEqual([]);

  world.clock.advance(7_000);
  for (const call of [2, 3]) await calls.release("first", call);
  for (const call of [1, 2, 3]) await calls.release("other", call);
  for (const id of [...runs, other]) await expect.poll(statusOf(id)).toBe("Completed");
  const { run, steps } = await inspectRun(world, viewer, { runId: runs[0] });
  expect(run).toMatchObject({ waiting: false, steps: 2, turns: [{ from, to: expect.any(String) }] });
  expect(steps.flatMap(({ attempts }) => attempts.filter(({ error }) => error !== null))).toEqual([]);
  expect(calls.count("first")).toBe(3);
  await expectSoundLedger(world, tenant);
});

it("does not happen while the process has free slots or only the same organization waits", async () => {
  const tenant = await createTenant(world);
  const calls = heldCalls((request) => calculates(request, 1));
  startEngine(busy);
  const names = ["a", "b", "c", "d"];
  const runs = await Promise.all(names.map((userMessage) => start(tenant, { process: busy, userMessage })));
  const left = new Set(names);
  while (left.size > 0) {
    const started = () => [...left].filter((name) => calls.count(name) > 0);
    await expect.poll(() => started().length).toBeGreaterThan(0);
    for (const name of started()) {
      for (const call of [1, 2]) await calls.release(name, call);
      left.delete(name);
    }
  }
  for (const id of runs) {
    await expect.poll(statusOf(id)).toBe("Completed");
    expect(await read(id)).toMatchObject({ epoch: 1, yieldedAt: [] });
  }
  await expectSoundLedger(world, tenant);
});

it("happens between two steps of a child run; parent and child continue where they were", async () => {
  const tenant = await createTenant(world);
  const second = await createTenant(world);
  const definition = {
    parameters: { type: "object" },
    steps: ["one", "two"].map((id) => ({ id, uses: "generate_text", with: { prompt: id } })),
    output: "{{ steps.two }}",
  };
  await world.db.toolVersion.updateMany({
    where: { toolId: tenant.toolId },
    data: { definition: JSON.stringify(definition) },
  });
  const asked: string[] = [];
  let release = () => {};
  play = async ({ messages, signal }) => {
    const last = messages.at(-1);
    const message = last?.role === "tool" ? "answer" : (last?.content ?? "");
    if (message === "hold") {
      await new Promise<void>((resolve, reject) => {
        release = resolve;
        signal.addEventListener("abort", () => reject(signal.reason));
      });
      return {};
    }
    asked.push(message);
    if (message === "one") {
      await start(second, { process: busy, userMessage: "hold" });
      // The second poll begins after the first was acted on.
      const looks = countLooks(busy);
      await expect.poll(looks).toBeGreaterThan(1);
    }
    if (message === "Hi") return { toolCalls: [{ id: "c", name: "adder", arguments: "{}" }] };
    return { content: `${message}, done` };
  };
  startEngine(busy);
  await start(tenant, { process: busy, userMessage: "hold" });
  const runId = await start(tenant, { process: busy });
  await expect.poll(async () => (await read(runId)).yieldedAt.length).toBe(1);
  expect(await read(runId)).toMatchObject({ status: "Running", admittedAt: null, claimedBy: null });
  expect(asked).toEqual(["Hi", "one"]);
  const child = await world.db.run.findFirstOrThrow({ where: { parentRunId: runId } });
  expect(child).toMatchObject({ status: "Running", claimedBy: null });
  const { startedAt } = await world.db.step.findFirstOrThrow({ where: { runId } });

  world.clock.advance(9_000);
  release();
  await expect.poll(statusOf(runId)).toBe("Completed");
  expect(asked).toEqual(["Hi", "one", "two", "answer"]);
  expect(await read(runId)).toMatchObject({ stepsExecuted: 1, actionsUsed: 1 });
  expect(await read(child.id)).toMatchObject({
    status: "Completed",
    output: '"two, done"',
    stepsExecuted: 2,
  });
  // The step that called the tool was not interrupted.
  const viewer = await createMember(world, tenant, "viewer");
  const { steps } = await inspectRun(world, viewer, { runId });
  expect(steps).toMatchObject([{ startedAt: startedAt.toISOString() }]);
  expect(steps.flatMap(({ attempts }) => attempts.filter(({ error }) => error !== null))).toEqual([]);
  await busy.engine.stop();
  await expectSoundLedger(world, tenant);
});

it("happens once, when each of a run's parallel branches has finished its call", async () => {
  const tenant = await createTenant(world);
  const second = await createTenant(world);
  const names = ["left", "right"];
  for (const slug of names) {
    const texts = ["one", "two"].map((id) => ({
      id,
      uses: "generate_text",
      with: { prompt: `${slug} ${id}` },
    }));
    await insertTool(world, tenant, { slug, definition: { steps: texts } });
  }
  const parallel = names.map((id) => ({ id, uses: "run_tool", with: { tool: id } }));
  const steps = [{ id: "both", parallel }];
  const targetId = await insertTool(world, tenant, { slug: "both", definition: { steps } });
  const calls = heldCalls(() => ({ content: "Done." }));
  startEngine(busy);
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const { runId } = await startRun(busy, actor, { kind: "tool", targetId, input: {} });
  const beside = await start(tenant, { process: busy, userMessage: "beside" });
  await expect.poll(() => calls.count("left one") + calls.count("beside")).toBe(2);
  const other = await start(second, { process: busy, userMessage: "other" });
  await untilSharesAreKnown(busy);
  for (const name of names) await calls.release(`${name} one`, 1);
  await expect.poll(() => calls.count("other")).toBe(1);
  expect(names.map((name) => calls.count(`${name} two`))).toEqual([0, 0]);
  expect((await read(runId)).yieldedAt).toHaveLength(1);

  await calls.release("other", 1);
  for (const name of names) await calls.release(`${name} two`, 1);
  await calls.release("beside", 1);
  for (const id of [runId, beside, other]) await expect.poll(statusOf(id)).toBe("Completed");
  expect((await read(beside)).yieldedAt).toEqual([]);
  expect(names.map((name) => calls.count(`${name} one`))).toEqual([1, 1]);
  await expectSoundLedger(world, tenant);
});
