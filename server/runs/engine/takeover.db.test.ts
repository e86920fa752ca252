// @module-tag once
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Decimal } from "@/server/base/amount";
import { ModelError } from "@/server/work/models/port";
import type { Script } from "@/testing/engine/scripted-world";
import { executeRun, executeSegment, replaceWorker } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import { insertTool } from "@/testing/tools";
import {
  createTenant,
  createWorld,
  openWorld,
  scriptedModels,
  setAgent,
  type Tenant,
  type World,
} from "@/testing/world";
import { cancelRun } from "../cancel";
import { startRun } from "../start";
import { admitWaitingRuns, claimRun } from "./claim";
import { releaseRuns } from "./run-state";
import { exactly } from "./slots/budget";
import { ProcessSlots } from "./slots/process-slots";
import { isStep, type JournalRow } from "./write/journal-rows";
import { WorkerLost } from "./write/writer";

let script: Script;
let modelCalls = 0;
let beside: World;

const world = await openWorld({
  models: scriptedModels((request) => {
    modelCalls += 1;
    return script(request, modelCalls);
  }),
});
beforeEach(async () => {
  beside = await createWorld({ beside: world, models: world.models });
});
afterEach(() => beside.close());

const callsAdder: Script = (request) =>
  request.messages.some(({ role }) => role === "tool")
    ? { content: "Three." }
    : { content: "", toolCalls: [{ id: "c", name: "adder", arguments: '{"a":1,"b":2}' }] };

async function start(tenant: Tenant): Promise<string> {
  modelCalls = 0;
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  return (await startRun(world, actor, { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" })).runId;
}

async function beforeWrite(
  process: World,
  write: "child" | "hold" | "end" | { step: string },
  happens: () => Promise<unknown>,
): Promise<void> {
  const { journal, accounts } = await process.engine.worker();
  let done = false;
  const once = async () => {
    if (done) return;
    done = true;
    await happens();
  };
  const { row, child } = { row: journal.row.bind(journal), child: journal.child.bind(journal) };
  const { hold, end } = { hold: accounts.hold.bind(accounts), end: accounts.end.bind(accounts) };
  const isWanted = (row: JournalRow) => typeof write === "object" && isStep(row) && row.key === write.step;
  journal.row = async (item) => {
    if (isWanted(item)) await once();
    return row(item);
  };
  journal.child = async (item) => {
    if (write === "child") await once();
    return child(item);
  };
  accounts.hold = async (item) => {
    if (write === "hold") await once();
    return hold(item);
  };
  accounts.end = async (item, rows = []) => {
    if (write === "end" || rows.some(isStep)) await once();
    return end(item, rows);
  };
}

function isNamed(statement: unknown, name: string): boolean {
  return (
    typeof statement === "object" && statement !== null && "name" in statement && statement.name === name
  );
}

async function executeBeside(runId: string) {
  await admitWaitingRuns(world, { worker: null, slots: 1_000 });
  return executeSegment(beside, runId);
}

const read = (id: string) => world.db.run.findUniqueOrThrow({ where: { id } });

async function expectNothingOpen(tenant: Tenant): Promise<void> {
  expect(await world.db.run.count({ where: { organizationId: tenant.orgId, finishedAt: null } })).toBe(0);
  await expectSoundLedger(world, tenant);
}

it("leaves a run to its worker, and lets another one continue when that worker is replaced", async () => {
  const tenant = await createTenant(world);
  const runId = await start(tenant);
  script = async () => {
    // An Inngest server may call a segment twice and drop the first call.
    expect(await executeSegment(beside, runId)).toBe("left");
    await beside.engine.failRun(runId, new Error("out of attempts"));
    return { content: "Done by the first." };
  };
  await executeRun(world, runId);
  expect(modelCalls).toBe(1);
  expect(await read(runId)).toMatchObject({ status: "Completed", output: "Done by the first.", epoch: 1 });

  const other = await start(tenant);
  script = async () => {
    await replaceWorker(beside);
    expect(await read(other)).toMatchObject({
      status: "Running",
      claimedBy: null,
      admittedAt: null,
      epoch: 1,
    });
    script = () => ({ content: "Done by the second." });
    await executeRun(world, other);
    return { content: "Done by the first." };
  };
  await expect(executeBeside(other)).rejects.toThrow(WorkerLost);
  expect(await read(other)).toMatchObject({ status: "Completed", output: "Done by the second.", epoch: 2 });
  await expectNothingOpen(tenant);
});

it("replaces a worker that stopped reporting, and rejects its later writes", async () => {
  const tenant = await createTenant(world);
  const runId = await start(tenant);
  await world.engine.worker();
  await beside.engine.worker();
  // Its heartbeats no longer arrive.
  const query = beside.pool.query.bind(beside.pool);
  vi.spyOn(beside.pool, "query").mockImplementation((...parts: Parameters<typeof query>) => {
    const statement: unknown = parts[0];
    return isNamed(statement, "heartbeat") ? new Promise(() => {}) : query(...parts);
  });
  script = async () => {
    const silentSince = performance.now();
    const claimedBy = async () => (await read(runId)).claimedBy;
    await expect.poll(claimedBy).toBeNull();
    expect(performance.now() - silentSince).toBeGreaterThan(1_500);
    return { content: "Late." };
  };
  await expect(executeBeside(runId)).rejects.toThrow(WorkerLost);
  expect(await read(runId)).toMatchObject({ status: "Running", claimedBy: null, admittedAt: null });
  script = () => ({ content: "In time." });
  await executeRun(world, runId);
  expect(await read(runId)).toMatchObject({ status: "Completed", output: "In time." });
  await expectNothingOpen(tenant);
});

it("finds by its heartbeat that it was replaced, and aborts its runs", async () => {
  const tenant = await createTenant(world);
  const runId = await start(tenant);
  script = async ({ signal }) => {
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
    await replaceWorker(beside);
    return aborted;
  };
  await expect(executeBeside(runId)).rejects.toThrow(WorkerLost);
  expect(await read(runId)).toMatchObject({ status: "Running", claimedBy: null });
  script = () => ({ content: "Done." });
  await executeRun(world, runId);
  await expectNothingOpen(tenant);
});

it("ends a run that was cancelled between two calls of the Inngest server", async () => {
  const tenant = await createTenant(world);
  script = callsAdder;
  const [first, second] = [await start(tenant), await start(tenant)];
  await admitWaitingRuns(world, { worker: null, slots: 1_000 });
  for (const runId of [first, second]) {
    expect(await executeSegment(world, runId, { calls: 1 })).toBe("paused");
  }
  expect(await cancelRun(world, tenant.orgId, { runId: first, by: "Ada" })).toBe(true);
  // The canceller's process died after marking the run.
  await world.pool.query("UPDATE runs SET cancel_requested_at = now(), cancelled_by = 'Bob' WHERE id = $1", [
    second,
  ]);
  for (const runId of [first, second]) expect(await executeSegment(world, runId)).toBe("ended");
  expect(await read(first)).toMatchObject({ status: "Cancelled", cancelledBy: "Ada", inputTokens: 100 });
  expect(await read(second)).toMatchObject({ status: "Cancelled", cancelledBy: "Bob", inputTokens: 100 });
  await expectNothingOpen(tenant);
});

it("makes a model call again that had failed when the worker was replaced", async () => {
  const tenant = await createTenant(world);
  script = () => {
    throw new ModelError("The provider says no.", { reason: "unavailable", attempts: [] });
  };
  const runId = await start(tenant);
  const { accounts, journal } = await beside.engine.worker();
  const end = accounts.end.bind(accounts);
  accounts.end = async (item, rows = []) => {
    await Promise.all(rows.map((row) => journal.row(row)));
    await replaceWorker(beside);
    return end(item);
  };
  await expect(executeBeside(runId)).rejects.toThrow(WorkerLost);
  const where = { runId };
  expect(await world.db.modelCall.findMany({ where })).toMatchObject([{ key: "think-1", status: "Failed" }]);
  script = () => ({ content: "Now it does." });
  await executeRun(world, runId);
  expect(await read(runId)).toMatchObject({ status: "Completed", output: "Now it does." });
  const [call] = await world.db.modelCall.findMany({ where });
  expect(call).toMatchObject({ key: "think-1", status: "Completed", errorMessage: null });
  await expectNothingOpen(tenant);
});

it.each(["hold", "child", "end", { step: "sum" }] as const)(
  "waits for a database that is away before it writes %o, and does nothing twice",
  async (write) => {
    const tenant = await createTenant(world);
    script = callsAdder;
    const runId = await start(tenant);
    await beforeWrite(beside, write, () =>
      world.pool.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
      ),
    );
    expect(await executeBeside(runId)).toBe("ended");
    expect(modelCalls).toBe(2);
    expect(await read(runId)).toMatchObject({ status: "Completed", epoch: 1, actionsUsed: 1 });
    await expectNothingOpen(tenant);
  },
);

it("begins no child under a run that has just ended", async () => {
  const tenant = await createTenant(world);
  script = callsAdder;
  const runId = await start(tenant);
  await beforeWrite(beside, "child", async () => {
    await replaceWorker(beside);
    await cancelRun(world, tenant.orgId, { runId, by: "Ada" });
  });
  await expect(executeBeside(runId)).rejects.toThrow(WorkerLost);
  expect(await read(runId)).toMatchObject({ status: "Cancelled", cancelledBy: "Ada" });
  expect(await world.db.run.count({ where: { parentRunId: runId } })).toBe(0);
  await expectNothingOpen(tenant);
});

it("rejects the child rows of a replaced worker while another worker completes the run", async () => {
  const tenant = await createTenant(world);
  script = callsAdder;
  const runId = await start(tenant);
  let finished: unknown;
  await beforeWrite(beside, { step: "sum" }, async () => {
    await replaceWorker(beside);
    await executeRun(world, runId);
    finished = await world.db.step.findMany({
      where: { organizationId: tenant.orgId },
      orderBy: { key: "asc" },
    });
  });
  await expect(executeBeside(runId)).rejects.toThrow(WorkerLost);
  expect(finished).toHaveLength(2);
  expect(
    await world.db.step.findMany({ where: { organizationId: tenant.orgId }, orderBy: { key: "asc" } }),
  ).toEqual(finished);
  expect(await read(runId)).toMatchObject({ status: "Completed", actionsUsed: 1 });
  await expectNothingOpen(tenant);
});

it("frees the children of a replaced worker together with their roots", async () => {
  const tenant = await createTenant(world);
  script = callsAdder;
  const runId = await start(tenant);
  await beforeWrite(beside, { step: "sum" }, () => replaceWorker(beside));
  await expect(executeBeside(runId)).rejects.toThrow(WorkerLost);
  const child = await world.db.run.findFirstOrThrow({ where: { parentRunId: runId } });
  expect(child).toMatchObject({ status: "Running", claimedBy: null, epoch: 1, stepsExecuted: 0 });
  await executeRun(world, runId);
  expect(await read(child.id)).toMatchObject({ status: "Completed", epoch: 2 });
  expect(await read(runId)).toMatchObject({ status: "Completed", stepsExecuted: 1 });
  await expectNothingOpen(tenant);
});

it.each(["before its worker was replaced", "after its worker was replaced"])(
  "ends a child that was cancelled %s",
  async (moment) => {
    const tenant = await createTenant(world);
    script = callsAdder;
    const runId = await start(tenant);
    const cancel = async () => {
      const child = await world.db.run.findFirstOrThrow({ where: { parentRunId: runId } });
      await cancelRun(world, tenant.orgId, { runId: child.id, by: "Ada" });
    };
    await beforeWrite(beside, { step: "sum" }, async () => {
      // The run's process does not get the cancel: it is gone.
      if (moment.startsWith("before")) await cancel();
      await replaceWorker(beside);
    });
    await expect(executeBeside(runId)).rejects.toThrow(WorkerLost);
    if (moment.startsWith("after")) await cancel();
    await executeRun(world, runId);
    const child = await world.db.run.findFirstOrThrow({ where: { parentRunId: runId } });
    expect(child).toMatchObject({ status: "Cancelled", cancelledBy: "Ada" });
    expect(await read(runId)).toMatchObject({ status: "Completed", actionsUsed: 1 });
    const [step] = await world.db.step.findMany({ where: { runId } });
    expect(step?.output).toBe('{"error":"The tool\'s run ended as Cancelled."}');
    await expectNothingOpen(tenant);
  },
);

it("opens no budget with the hold of a child that ends meanwhile", async () => {
  const tenant = await createTenant(world);
  const set = (id: string) => ({ id, uses: "set_value", with: { key: id, value: 1 } });
  const call = { id: "call", uses: "run_tool", with: { tool: "child", input: {} } };
  await insertTool(world, tenant, {
    slug: "child",
    definition: { steps: [set("first"), set("second")] },
  });
  const targetId = await insertTool(world, tenant, { slug: "root", definition: { steps: [call] } });
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const { runId } = await startRun(world, actor, { kind: "tool", targetId, input: {} });
  await beforeWrite(beside, { step: "second" }, () => replaceWorker(beside));
  await expect(executeBeside(runId)).rejects.toThrow(WorkerLost);

  await admitWaitingRuns(world, { worker: null, slots: 1_000 });
  const worker = await world.engine.worker();
  const claimed = await claimRun(world, { runId }, worker.id);
  if (claimed === null) throw new Error("the run cannot be claimed");
  const child = await world.db.run.findFirstOrThrow({ where: { parentRunId: runId } });
  await cancelRun(world, tenant.orgId, { runId: child.id, by: "Ada" });
  const { held } = await read(runId);
  expect(held.lt(claimed.held)).toBe(true);
  const { budget } = await new ProcessSlots(() => world, 1).openClaimed(claimed, worker);
  await budget.reserve(exactly(held));
  expect((await read(runId)).held).toEqual(held);
  await budget.reserve(exactly(new Decimal("0.0001")));
  expect((await read(runId)).held.gt(held)).toBe(true);

  await releaseRuns(world, worker.id, [claimed]);
  await cancelRun(world, tenant.orgId, { runId, by: "Ada" });
  await expectNothingOpen(tenant);
});

it("continues an agent's corrections and counted calls where the replaced worker left them", async () => {
  const tenant = await createTenant(world);
  await setAgent(world, tenant, {
    outputSchema: { type: "object", required: ["sum"] },
    policies: { calculate: { maxCalls: 1 } },
  });
  const calculate = (expression: string) => ({
    content: "",
    toolCalls: [{ id: expression, name: "calculate", arguments: JSON.stringify({ expression }) }],
  });
  const runId = await start(tenant);
  script = async (request, call) => {
    if (call === 1) return calculate("1+2");
    if (call === 2) return calculate("2+2");
    if (call === 3) return { content: "Three." };
    // The call that corrects the answer is under way when its worker is replaced.
    if (call === 4) await replaceWorker(beside);
    expect(request.messages.at(-1)?.content).toContain("it is not JSON");
    return { content: '{"sum":3}' };
  };
  await expect(executeBeside(runId)).rejects.toThrow(WorkerLost);
  await executeRun(world, runId);
  expect(modelCalls).toBe(5);
  const run = await read(runId);
  expect(run).toMatchObject({ status: "Completed", output: '{"sum":3}', stepsExecuted: 2, actionsUsed: 1 });
  // Four model calls and one action: neither the lost reply nor the rejected call is charged.
  expect(run.creditsUsed.toString()).toBe("0.066");
  const steps = await world.db.step.findMany({ where: { runId }, orderBy: { stepNumber: "asc" } });
  expect(steps.map(({ output }) => output)).toEqual([
    "3",
    '{"error":"calculate has used its only call of this run. Continue without it."}',
  ]);
  await expectNothingOpen(tenant);
});

it("reads a child's answer by the schema it ran with, after its agent got another one", async () => {
  const tenant = await createTenant(world);
  await setAgent(world, tenant, { outputSchema: { type: "object" } });
  const definition = {
    steps: [{ id: "ask", uses: "run_agent", with: { agent: "helper", message: "Hi" } }],
    output: "{{ steps.ask.output.sum }}",
  };
  const targetId = await insertTool(world, tenant, { slug: "caller", definition });
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const { runId } = await startRun(world, actor, { kind: "tool", targetId, input: {} });
  modelCalls = 0;
  script = () => ({ content: '{"sum":3}' });
  const { accounts } = await beside.engine.worker();
  const end = accounts.end.bind(accounts);
  accounts.end = async (item, rows = []) => {
    // The child has ended, and the caller's step is not written yet.
    if (item.run === runId) {
      await setAgent(world, tenant, {});
      await replaceWorker(beside);
    }
    return end(item, rows);
  };
  await expect(executeBeside(runId)).rejects.toThrow(WorkerLost);
  await executeRun(world, runId);
  expect(modelCalls).toBe(1);
  expect(await read(runId)).toMatchObject({ status: "Completed", output: "3" });
  await expectNothingOpen(tenant);
});

it("extends no hold for a worker that was replaced", async () => {
  const tenant = await createTenant(world);
  script = () => ({ content: "Done." });
  const runId = await start(tenant);
  const before = (await read(runId)).held.toString();
  await beforeWrite(beside, "hold", () => replaceWorker(beside));
  await expect(executeBeside(runId)).rejects.toThrow(WorkerLost);
  expect((await read(runId)).held.toString()).toBe(before);
  await executeRun(world, runId);
  await expectNothingOpen(tenant);
});

it("does not end a run at its deadline for a worker that was replaced", async () => {
  const tenant = await createTenant(world);
  await world.db.agentVersion.updateMany({
    where: { agentId: tenant.agentId },
    data: { deadlineSeconds: 1 },
  });
  const runId = await start(tenant);
  script = async ({ signal }) => {
    const passed = new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
    await beforeWrite(beside, "end", () => replaceWorker(beside));
    return passed;
  };
  await expect(executeBeside(runId)).rejects.toThrow(WorkerLost);
  expect((await read(runId)).status).toBe("Running");
  world.clock.advance(1_001);
  await executeRun(world, runId);
  expect(await read(runId)).toMatchObject({ status: "Failed", errorCode: "deadline_exceeded" });
  await expectNothingOpen(tenant);
});
