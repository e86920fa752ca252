import { expect, it } from "vitest";
import type { Json } from "@/server/base/json/json";
import { admitWaitingRuns } from "@/server/runs/engine/claim";
import { wakeRuns } from "@/server/runs/engine/run-state";
import { WorkerLost } from "@/server/runs/engine/write/writer";
import { inspectRun } from "@/server/runs/read/inspect/inspect";
import { inspectCall, inspectStep } from "@/server/runs/read/inspect/inspect-line";
import { startRun } from "@/server/runs/start";
import { ModelError, type ModelReply, type ModelRequest } from "@/server/work/models/port";
import { executeRun, executeSegment, replaceWorker } from "@/testing/execute";
import { createMember } from "@/testing/runs";
import { insertTool } from "@/testing/tools";
import { createTenant, createWorld, openWorld, scriptedModels, type Tenant } from "@/testing/world";

let play: (request: ModelRequest) => Partial<ModelReply> | Promise<Partial<ModelReply>>;
const world = await openWorld({
  models: scriptedModels((request) => play(request)),
});

async function start(tenant: Tenant, retries: Json = 1): Promise<string> {
  const definition = {
    parameters: { type: "object" },
    steps: [{ id: "one", uses: "generate_text", with: { prompt: "one" }, retries }],
    output: "{{ steps.one }}",
  };
  await world.db.toolVersion.updateMany({
    where: { toolId: tenant.toolId },
    data: { definition: JSON.stringify(definition) },
  });
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  return (await startRun(world, actor, { kind: "tool", targetId: tenant.toolId, input: {} })).runId;
}

it("has no slot while it waits for its next attempt", async () => {
  const tenant = await createTenant(world);
  const runId = await start(tenant, { count: 1, firstWaitMs: 60_000 });
  let asked = 0;
  play = () => {
    asked += 1;
    if (asked === 1) throw new ModelError("Away.", { reason: "unavailable", attempts: [] });
    return { content: "Here." };
  };
  expect(await executeRun(world, runId)).toBe("asleep");
  expect(await world.db.run.findUniqueOrThrow({ where: { id: runId } })).toMatchObject({
    status: "Running",
    admittedAt: null,
  });
  world.clock.advance(60_000);
  expect(await wakeRuns(world)).toMatchObject({ woken: 1 });
  expect(await executeRun(world, runId)).toBe("ended");
  const run = await world.db.run.findUniqueOrThrow({ where: { id: runId }, include: { steps: true } });
  expect(run).toMatchObject({ status: "Completed", actionsUsed: 1 });
  expect(JSON.parse(run.steps[0]?.attempts ?? "")).toMatchObject([
    { error: expect.stringContaining("Away") },
    { error: null },
  ]);
  expect(asked).toBe(2);
});

it("ends a called run at its own deadline while that run waits for its next attempt", async () => {
  const tenant = await createTenant(world);
  const retries = { count: 1, firstWaitMs: 60_000 };
  const text = { id: "text", uses: "generate_text", with: { prompt: "one" }, retries };
  await insertTool(world, tenant, { slug: "slow", definition: { steps: [text] }, deadlineSeconds: 20 });
  const call = { id: "call", uses: "run_tool", with: { tool: "slow" }, onError: "continue" };
  const definition = { steps: [call], output: "{{ steps.call }}" };
  const targetId = await insertTool(world, tenant, { slug: "caller", definition });
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const { runId } = await startRun(world, actor, { kind: "tool", targetId, input: {} });
  play = () => {
    throw new ModelError("Away.", { reason: "unavailable", attempts: [] });
  };
  expect(await executeRun(world, runId)).toBe("asleep");
  world.clock.advance(20_000);
  expect(await wakeRuns(world)).toMatchObject({ woken: 1 });
  expect(await executeRun(world, runId)).toBe("ended");
  const { output } = await world.db.run.findUniqueOrThrow({ where: { id: runId } });
  expect(JSON.parse(output ?? "")).toMatchObject({
    error: expect.stringContaining("deadline of 20 seconds"),
  });
});

it("shows a failed attempt while the next one is under way, and when that one began", async () => {
  const tenant = await createTenant(world);
  const viewer = await createMember(world, tenant, "viewer");
  const runId = await start(tenant);
  const seen: unknown[] = [];
  play = async () => {
    const lines = async () => {
      const { steps } = await inspectRun(world, viewer, { runId });
      return steps.map(({ status, attempts }) => ({ status, attempts }));
    };
    // A step that has just started is not written yet.
    await expect.poll(lines).toHaveLength(1);
    seen.push(await lines());
    if (seen.length > 1) return { content: "done" };
    world.clock.advance(40);
    throw new ModelError(`Overloaded. ${"x".repeat(300)}`, { reason: "unavailable", attempts: [] });
  };
  const started = world.clock.now().getTime();
  await executeRun(world, runId);
  const moment = (ms: number) => new Date(started + ms).toISOString();
  const failed = { startedAt: moment(0), durationMs: 40, retryAt: moment(540) };
  expect(seen).toEqual([
    [{ status: "Running", attempts: [] }],
    [{ status: "Running", attempts: [{ ...failed, error: expect.stringMatching(/^Overloaded\. x{188}$/) }] }],
  ]);
  const { steps } = await inspectRun(world, viewer, { runId });
  expect(steps[0]).toMatchObject({ status: "Completed", attempts: [failed, { error: null }] });
  const complete = await inspectStep(world, viewer, { runId, stepId: steps[0]?.id ?? "" });
  expect(complete.attempts[0]?.error).toHaveLength(312);
});

it("shows the attempts of a model call while the client waits before the next one", async () => {
  const tenant = await createTenant(world);
  const viewer = await createMember(world, tenant, "viewer");
  const runId = await start(tenant);
  const attempt = { startedAt: world.clock.now().toISOString(), durationMs: 7, error: "busy" };
  const waiting = { ...attempt, retryAt: world.clock.now().toISOString() };
  play = async ({ onRetry }) => {
    await onRetry?.([waiting]);
    const calls = async () => (await inspectRun(world, viewer, { runId })).calls;
    await expect.poll(calls).toMatchObject([{ status: "Running", attempts: [waiting] }]);
    return { content: "done", attempts: [waiting, { ...attempt, error: null }] };
  };
  await executeRun(world, runId);
  const { run, calls } = await inspectRun(world, viewer, { runId });
  expect(run.status).toBe("Completed");
  expect(calls).toMatchObject([{ status: "Completed", attempts: [waiting, { error: null }] }]);
});

it("shows the attempt that a replaced worker did not finish, and the step's original start", async () => {
  const tenant = await createTenant(world);
  const viewer = await createMember(world, tenant, "viewer");
  const runId = await start(tenant);
  const started = world.clock.now();
  const beside = await createWorld({ beside: world, models: world.models });
  const lines = async () => {
    const { steps, calls } = await inspectRun(world, viewer, { runId });
    return [...steps, ...calls].map(({ status }) => status);
  };
  let asked = 0;
  let second: Promise<unknown> | undefined;
  play = async () => {
    asked += 1;
    if (asked > 1) return { content: "done by the second" };
    await expect.poll(lines).toEqual(["Running", "Running"]);
    world.clock.advance(30_001);
    await replaceWorker(beside);
    second = executeRun(world, runId);
    await second;
    return { content: "done by the first" };
  };
  await admitWaitingRuns(world, { worker: null, slots: 1_000 });
  await expect(executeSegment(beside, runId)).rejects.toThrow(WorkerLost);
  // A heartbeat may find the replacement before the second worker is done.
  await second;
  await beside.close();
  const { run, steps, calls } = await inspectRun(world, viewer, { runId });
  expect(run.output?.text).toBe('"done by the second"');
  const interrupted = {
    startedAt: started.toISOString(),
    durationMs: 30_001,
    error: expect.stringMatching(/^Interrupted: /),
  };
  expect(steps).toMatchObject([
    { status: "Completed", startedAt: started.toISOString(), attempts: [interrupted, { error: null }] },
  ]);
  const call = await inspectCall(world, viewer, { runId, callId: calls[0]?.id ?? "" });
  expect(call.attempts).toMatchObject([interrupted]);
});

it("counts the attempts of a replaced worker, and waits as long before the next one", async () => {
  const tenant = await createTenant(world);
  const runId = await start(tenant, { count: 1, firstWaitMs: 0 });
  const beside = await createWorld({ beside: world, models: world.models });
  let asked = 0;
  let replacedAt = 0;
  let askedAgainAfterMs = 0;
  let second: Promise<unknown> | undefined;
  play = async () => {
    asked += 1;
    if (asked === 2) {
      const attempts = async () => (await world.db.step.findMany({ where: { runId } }))[0]?.attempts ?? "[]";
      await expect.poll(async () => JSON.parse(await attempts())).toHaveLength(1);
      await replaceWorker(beside);
      const [failed] = JSON.parse(await attempts());
      const retryAt = new Date(world.clock.now().getTime() + 200).toISOString();
      await world.db.step.updateMany({
        where: { runId },
        data: { attempts: JSON.stringify([{ ...failed, retryAt }]) },
      });
      replacedAt = performance.now();
      second = executeRun(world, runId);
      await second;
    } else if (asked > 2) {
      askedAgainAfterMs = performance.now() - replacedAt;
    }
    throw new ModelError("Overloaded.", { reason: "unavailable", attempts: [] });
  };
  await admitWaitingRuns(world, { worker: null, slots: 1_000 });
  await expect(executeSegment(beside, runId)).rejects.toThrow(WorkerLost);
  await second;
  await beside.close();
  expect(asked).toBe(3);
  expect(askedAgainAfterMs).toBeGreaterThan(190);
  const [step] = await world.db.step.findMany({ where: { runId } });
  expect(JSON.parse(step?.attempts ?? "")).toMatchObject([
    { error: "Overloaded." },
    { error: "Overloaded." },
  ]);
});
