import { describe, expect, it } from "vitest";
import { endOverdueRuns } from "@/server/operate/overdue-runs";
import { readAttempts } from "@/server/runs/attempts";
import { cancelRun } from "@/server/runs/cancel";
import { admitWaitingRuns } from "@/server/runs/engine/claim";
import { wakeRuns } from "@/server/runs/engine/run-state";
import { startRun } from "@/server/runs/start";
import { executeRun, executeSegment, replaceWorker } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import { createProcess } from "@/testing/process";
import { insertTool } from "@/testing/tools";
import { createTenant, createWorld, openWorld, scriptedModels, type Tenant } from "@/testing/world";

const world = await openWorld({
  models: scriptedModels(({ messages }) =>
    messages.some(({ role }) => role === "tool")
      ? { content: "Waited." }
      : { content: "", toolCalls: [{ id: "c", name: "wait", arguments: '{"seconds":60}' }] },
  ),
});

const read = (id: string) => world.db.run.findUniqueOrThrow({ where: { id }, include: { steps: true } });

async function startTool(tenant: Tenant, definition: Parameters<typeof insertTool>[2]["definition"]) {
  const targetId = await insertTool(world, tenant, { slug: "waits", definition });
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  return (await startRun(world, actor, { kind: "tool", targetId, input: {} })).runId;
}

const waits = (seconds: number, fields: object = {}) => ({
  id: "pause",
  uses: "wait",
  with: { seconds },
  ...fields,
});
const inFlight = async ({ orgId }: Tenant) =>
  (await world.db.organization.findUniqueOrThrow({ where: { id: orgId } })).inFlight;

describe("a run that waits", () => {
  it("has no slot and no worker, does not wait for a slot, and continues at its time", async () => {
    const tenant = await createTenant(world);
    const runId = await startTool(tenant, { steps: [waits(60)] });
    const due = new Date(world.clock.now().getTime() + 60_000);
    expect(await executeRun(world, runId)).toBe("asleep");
    expect(await read(runId)).toMatchObject({
      status: "Running",
      admittedAt: null,
      claimedBy: null,
      steps: [{ status: "Running" }],
    });
    expect(await inFlight(tenant)).toBe(0);
    expect(await executeRun(world, runId)).toBe("asleep");
    world.clock.advance(59_000);
    expect(await wakeRuns(world)).toEqual({ woken: 0, nextMs: 1_000 });
    world.clock.advance(1_000);
    expect(await wakeRuns(world)).toEqual({ woken: 1, nextMs: null });
    expect(await executeRun(world, runId)).toBe("ended");
    const done = await read(runId);
    expect(done).toMatchObject({ status: "Completed", stepsExecuted: 1, actionsUsed: 1 });
    expect(JSON.parse(done.output ?? "")).toEqual({ until: due.toISOString() });
    expect(JSON.parse(done.steps[0]?.attempts ?? "")).toMatchObject([{ error: null, durationMs: 60_000 }]);
    expect(done.creditsUsed.toString()).toBe("0.01");
    await expectSoundLedger(world, tenant);
  });

  it("waits only for the rest when its worker died before", async () => {
    const tenant = await createTenant(world);
    const runId = await startTool(tenant, { steps: [waits(60)] });
    await executeRun(world, runId);
    world.clock.advance(30_000);
    await replaceWorker(world);
    const beside = await createWorld({ beside: world });
    world.clock.advance(30_000);
    await wakeRuns(beside);
    expect(await executeRun(beside, runId)).toBe("ended");
    await beside.close();
    expect(await read(runId)).toMatchObject({ status: "Completed" });
    await expectSoundLedger(world, tenant);
  });

  it("ends at once when it is cancelled", async () => {
    const tenant = await createTenant(world);
    const runId = await startTool(tenant, { steps: [waits(60)] });
    await executeRun(world, runId);
    expect(await cancelRun(world, tenant.orgId, { runId, by: "Ada" })).toBe(true);
    expect(await read(runId)).toMatchObject({ status: "Cancelled", steps: [{ status: "Failed" }] });
    await expectSoundLedger(world, tenant);
  });

  it("waits within a run that an agent called, and within an agent", async () => {
    const tenant = await createTenant(world, { agent: { functions: ["wait"] } });
    const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
    const request = { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" } as const;
    const { runId } = await startRun(world, actor, request);
    expect(await executeRun(world, runId)).toBe("asleep");
    world.clock.advance(60_000);
    await wakeRuns(world);
    expect(await executeRun(world, runId)).toBe("ended");
    expect(await read(runId)).toMatchObject({ status: "Completed", output: "Waited." });

    await insertTool(world, tenant, { slug: "inner", definition: { steps: [waits(60)] } });
    const outer = await startTool(tenant, {
      steps: [{ id: "call", uses: "run_tool", with: { tool: "inner" } }],
    });
    expect(await executeRun(world, outer)).toBe("asleep");
    world.clock.advance(60_000);
    await wakeRuns(world);
    expect(await executeRun(world, outer)).toBe("ended");
    expect(await read(outer)).toMatchObject({ status: "Completed" });
    const steps = await world.db.step.findMany({ where: { run: { rootRunId: outer } } });
    // Neither the call nor the wait was interrupted.
    expect(steps.map(({ attempts }) => readAttempts(attempts).map(({ error }) => error))).toEqual([
      [null],
      [null],
    ]);
    await expectSoundLedger(world, tenant);
  });

  it("leaves its slot only when all that it does side by side waits", async () => {
    const tenant = await createTenant(world);
    const runId = await startTool(tenant, {
      steps: [
        {
          id: "both",
          parallel: [
            waits(60),
            waits(90, { id: "longer" }),
            { id: "sum", uses: "calculate", with: { expression: "1+1" } },
          ],
        },
      ],
    });
    expect(await executeRun(world, runId)).toBe("asleep");
    const statuses = async () =>
      Object.fromEntries((await read(runId)).steps.map(({ key, status }) => [key, status]));
    expect(await statuses()).toEqual({ pause: "Running", longer: "Running", sum: "Completed" });
    world.clock.advance(60_000);
    await wakeRuns(world);
    expect(await executeRun(world, runId)).toBe("asleep");
    expect(await statuses()).toEqual({ pause: "Completed", longer: "Running", sum: "Completed" });
    world.clock.advance(30_000);
    await wakeRuns(world);
    expect(await executeRun(world, runId)).toBe("ended");
    const done = await read(runId);
    expect(done).toMatchObject({ status: "Completed", stepsExecuted: 3 });
    expect(done.steps.map(({ stepNumber }) => stepNumber).sort()).toEqual([1, 2, 3]);
  });

  it("does not sleep when what it does beside the wait must only yield", async () => {
    const tenant = await createTenant(world);
    const sum = (id: string) => ({ id, uses: "calculate", with: { expression: "1+1" } });
    await insertTool(world, tenant, { slug: "sums", definition: { steps: [sum("one"), sum("two")] } });
    // A step with a time limit is stored before the pause.
    const sums = { id: "sums", uses: "run_tool", with: { tool: "sums" }, timeoutMs: 60_000 };
    const runId = await startTool(tenant, { steps: [{ id: "both", parallel: [waits(60), sums] }] });
    await admitWaitingRuns(world, { worker: null, slots: 1_000 });
    // The call is over before the second sum.
    expect(await executeSegment(world, runId, { calls: 2 })).toBe("paused");
    const steps = () =>
      world.db.step.findMany({ where: { run: { rootRunId: runId } }, select: { key: true, status: true } });
    expect(await steps()).not.toContainEqual({ key: "two", status: "Completed" });
    expect(await executeSegment(world, runId)).toBe("asleep");
    expect(await steps()).toContainEqual({ key: "two", status: "Completed" });
    expect(await steps()).toContainEqual({ key: "pause", status: "Running" });
    const called = (await read(runId)).steps.find(({ key }) => key === "sums");
    expect(readAttempts(called?.attempts ?? "")).toMatchObject([{ error: null }]);
    await cancelRun(world, tenant.orgId, { runId, by: "Ada" });
    await expectSoundLedger(world, tenant);
  });
});

it.each([
  ["would end after the deadline", waits(901), "past_deadline", "raise deadlineSeconds"],
  ["takes longer than the step may", waits(60, { timeoutMs: 30_000 }), "timeout", "30000 ms"],
  ["names no time", { id: "pause", uses: "wait", with: {} }, "invalid_input", "either seconds or until"],
])("a wait that %s fails at once", async (_name, step, code, message) => {
  const tenant = await createTenant(world);
  const runId = await startTool(tenant, { steps: [{ ...step, onError: "continue" }] });
  expect(await executeRun(world, runId)).toBe("ended");
  const output: unknown = JSON.parse((await read(runId)).output ?? "");
  expect(output).toMatchObject({ code, error: expect.stringMatching(new RegExp(message, "i")) });
});

it("a called run that waits is ended at the time limit of its step", async () => {
  const tenant = await createTenant(world);
  await insertTool(world, tenant, { slug: "slow", definition: { steps: [waits(600)] } });
  const call = { uses: "run_tool", with: { tool: "slow" }, onError: "continue" };
  const runId = await startTool(tenant, {
    steps: [
      {
        id: "both",
        parallel: [
          { id: "patient", ...call },
          { id: "hasty", timeoutMs: 5_000, ...call },
        ],
      },
    ],
    output: "{{ steps.both.hasty }}",
  });
  expect(await executeRun(world, runId)).toBe("asleep");
  world.clock.advance(5_000);
  expect(await wakeRuns(world)).toMatchObject({ woken: 1 });
  expect(await executeRun(world, runId)).toBe("asleep");
  world.clock.advance(595_000);
  await wakeRuns(world);
  expect(await executeRun(world, runId)).toBe("ended");
  expect(JSON.parse((await read(runId)).output ?? "")).toMatchObject({ code: "timeout" });
  await expectSoundLedger(world, tenant);
});

it("a run that waits beyond its deadline is ended by the job", async () => {
  const tenant = await createTenant(world);
  const runId = await startTool(tenant, { steps: [waits(890), waits(890, { id: "again" })] });
  await executeRun(world, runId);
  world.clock.advance(931_000);
  await endOverdueRuns(world);
  expect(await read(runId)).toMatchObject({ status: "Failed", errorCode: "deadline_exceeded" });
});

it("a real engine continues soon after the due time", async () => {
  const tenant = await createTenant(world);
  const process = createProcess(world);
  await process.engine.execute();
  try {
    const targetId = await insertTool(world, tenant, { slug: "real", definition: { steps: [waits(2.5)] } });
    const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
    const { runId } = await startRun(process, actor, { kind: "tool", targetId, input: {} });
    await expect.poll(async () => (await read(runId)).yieldedAt.length).toBe(1);
    await expect.poll(async () => (await read(runId)).status).toBe("Completed");
    const { startedAt, finishedAt } = await read(runId);
    const lasted = (finishedAt?.getTime() ?? 0) - (startedAt?.getTime() ?? 0);
    expect(lasted).toBeGreaterThanOrEqual(2_500);
    // A busy machine may be late.
    expect(lasted).toBeLessThan(7_500);
  } finally {
    await process.stop();
  }
});
