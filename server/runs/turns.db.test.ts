import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { ModelReply, ModelRequest } from "@/server/models/port";
import { findOverdueRuns, findUnwokenRuns, settleOverdueRuns } from "@/server/operate/reconciler";
import { createMember } from "@/server/testing/runs";
import { createTenant, createWorld, quietModels, type Tenant, type World } from "@/server/testing/world";
import { cancelRun } from "./cancel";
import { admitRuns } from "./dispatch";
import { executeRun } from "@/server/testing/execute";
import { inspectRun } from "./inspect";
import { claimRun } from "./lifecycle";
import { startRun } from "./start";
import { giveBack, lookForCrowd } from "./turns";

/** Runs that give their place back between two steps, and what becomes of them. */

let play: (request: ModelRequest) => Partial<ModelReply> | Promise<Partial<ModelReply>>;
let world: World;
beforeAll(async () => {
  world = await createWorld({
    models: {
      ...quietModels,
      call: async (request) => ({ ...(await quietModels.call(request)), ...(await play(request)) }),
    },
  });
});
afterAll(() => world.close());
// What other tests left open has no place and wants none.
beforeEach(() =>
  world.db.run.updateMany({ where: { finishedAt: null }, data: { waitingSince: world.clock.now() } }),
);

/** What it says of itself: all places are taken, and whoever waits at all waits too long. */
const engine = { full: () => true, beginsWithinMs: 0 };
const remember: Remember = (_name, work) => work();
const read = (id: string) => world.db.run.findUniqueOrThrow({ where: { id } });

async function start(tenant: Tenant): Promise<string> {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  return (await startRun(world, actor, { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" })).runId;
}

/** A run that has begun, and has given its place back before its first step. */
async function startWaiting(tenant: Tenant): Promise<string> {
  const runId = await start(tenant);
  const run = await claimRun(world, runId, "engine-run");
  if (run === null) throw new Error("the run could not be claimed");
  expect(await giveBack(world, run)).toBe(true);
  return runId;
}

/** Makes an organization owe a place: a second one's run has waited for a moment while two of the first have theirs. */
async function crowd(tenant: Tenant): Promise<string> {
  await claimRun(world, await start(tenant), "elsewhere");
  const newcomer = await createTenant(world);
  const runId = await start(newcomer);
  await admitRuns(world, 100);
  world.clock.advance(1);
  expect(await lookForCrowd(world, engine)).toBe(true);
  return runId;
}

async function expectExactCharges(tenant: Tenant, runId: string): Promise<void> {
  const { creditsUsed, held } = await read(runId);
  const others = await world.db.run.aggregate({
    where: { organizationId: tenant.orgId, id: { not: runId } },
    _sum: { creditsUsed: true, held: true },
  });
  const { balance } = await world.db.organization.findUniqueOrThrow({ where: { id: tenant.orgId } });
  const sum = balance
    .add(creditsUsed)
    .add(held)
    .add(others._sum.held ?? 0);
  expect(sum.add(others._sum.creditsUsed ?? 0).toString()).toBe("100");
}

it("has nobody, is admitted again by another event, and refuses the worker that had it", async () => {
  const tenant = await createTenant(world);
  const runId = await start(tenant);
  const run = await claimRun(world, runId, "first");
  if (run === null) throw new Error("the run could not be claimed");
  expect(await giveBack(world, run)).toBe(true);
  expect(await read(runId)).toMatchObject({ status: "Running", admittedAt: null, claimedBy: null, epoch: 2 });
  expect(await giveBack(world, run)).toBe(false);
  const wakeUps = await admitRuns(world, 100);
  expect(wakeUps).toContainEqual({ runId, kind: "agent", epoch: 2, eventId: `${runId}:2.0` });
  expect(await claimRun(world, runId, "second")).toMatchObject({ epoch: 3, startedAt: run.startedAt });
});

it("ends at once when it is cancelled, as one that has not begun", async () => {
  const tenant = await createTenant(world);
  const runId = await startWaiting(tenant);
  expect(await cancelRun(world, tenant.orgId, runId, "Ada")).toBe(true);
  expect(await read(runId)).toMatchObject({ status: "Cancelled", cancelledBy: "Ada" });
  const viewer = await createMember(world, tenant, "viewer");
  const now = world.clock.now().toISOString();
  expect((await inspectRun(world, viewer, runId)).run.turns).toEqual([{ from: now, to: now }]);
  await expectExactCharges(tenant, runId);
});

it("is not given back when it is to be cancelled: its worker ends it", async () => {
  const tenant = await createTenant(world);
  const runId = await start(tenant);
  const run = await claimRun(world, runId, "first");
  if (run === null) throw new Error("the run could not be claimed");
  await cancelRun(world, tenant.orgId, runId, "Ada");
  expect(await giveBack(world, run)).toBe(false);
});

it("is handed over again when its wake-up was lost, is silent for nobody, and ends at its deadline", async () => {
  const tenant = await createTenant(world);
  const runId = await startWaiting(tenant);
  await admitRuns(world, 100);
  world.clock.advance(10_001);
  expect(await findUnwokenRuns(world)).toContainEqual({
    runId,
    kind: "agent",
    epoch: 2,
    eventId: `${runId}:2.0`,
  });
  world.clock.advance(120_000);
  expect(await findUnwokenRuns(world)).toContainEqual({
    runId,
    kind: "agent",
    epoch: 2,
    eventId: `${runId}:2.1`,
  });
  expect((await findOverdueRuns(world)).map((run) => run.runId)).not.toContain(runId);
  world.clock.advance(900_000);
  await settleOverdueRuns(world);
  expect(await read(runId)).toMatchObject({ status: "Failed", errorCode: "deadline_exceeded" });
});

it("keeps a newcomer back by nobody's queue: it is admitted though another's runs fill the backlog", async () => {
  const crowded = await createTenant(world, { plan: { concurrency: 100 } });
  const queued = await Promise.all(Array.from({ length: 30 }, () => start(crowded)));
  const first = await admitRuns(world, 20);
  expect(first.filter(({ runId }) => queued.includes(runId))).toHaveLength(20);
  const newcomer = await createTenant(world);
  // Its second run too: the first, not taken up yet, counts, but not what the other organization has.
  for (let n = 0; n < 2; n += 1) {
    const runId = await start(newcomer);
    const next = (await admitRuns(world, 20)).map((wakeUp) => wakeUp.runId);
    expect(next).toContain(runId);
    expect(next.filter((id) => queued.includes(id))).toEqual([]);
  }
});

const calculateTwice = (request: ModelRequest): Partial<ModelReply> => {
  const rounds = request.messages.filter(({ role }) => role === "tool").length;
  return rounds === 2
    ? { content: "Two." }
    : { toolCalls: [{ id: `c${rounds}`, name: "calculate", arguments: '{"expression":"1+1"}' }] };
};

it("gives its place back between two steps, goes on where it was, and tells when it waited", async () => {
  const tenant = await createTenant(world);
  const viewer = await createMember(world, tenant, "viewer");
  const runId = await start(tenant);
  let calls = 0;
  let newcomer = "";
  play = async (request) => {
    calls += 1;
    if (calls === 2) newcomer = await crowd(tenant);
    return calculateTwice(request);
  };
  await executeRun(world, runId, remember, "first");
  expect(await read(runId)).toMatchObject({ status: "Running", admittedAt: null, stepsExecuted: 1 });
  expect(calls).toBe(2);

  await claimRun(world, newcomer, "newcomer");
  expect(await lookForCrowd(world, engine)).toBe(false);
  const from = world.clock.now().toISOString();
  expect((await inspectRun(world, viewer, runId)).run.turns).toEqual([{ from, to: null }]);
  world.clock.advance(7_000);
  await executeRun(world, runId, remember, "second");
  expect(await read(runId)).toMatchObject({ status: "Completed", output: "Two.", stepsExecuted: 2 });
  expect(calls).toBe(3);
  const { run, steps } = await inspectRun(world, viewer, runId);
  expect(run.turns).toEqual([{ from, to: world.clock.now().toISOString() }]);
  expect(steps.flatMap(({ attempts }) => attempts)).toEqual([]);
  await expectExactCharges(tenant, runId);
});

it("is not taken again by the engine run that gave it back: a server calls that once more after its last step", async () => {
  const tenant = await createTenant(world);
  const runId = await start(tenant);
  let newcomer = "";
  play = async (request) => {
    newcomer ||= await crowd(tenant);
    return calculateTwice(request);
  };
  const memo = new Map<string, string>();
  const remembering: Remember = async (name, work) => {
    const known = memo.get(name) ?? (await work());
    memo.set(name, known);
    return known;
  };
  await executeRun(world, runId, remembering, "first", 0);
  expect(await read(runId)).toMatchObject({ status: "Running", admittedAt: null });
  const wakeUp = (await admitRuns(world, 100)).find((one) => one.runId === runId);

  await executeRun(world, runId, remembering, "first", 0);
  await settleGivenUp(world, runId, new Error("out of attempts"), "first");
  expect(await read(runId)).toMatchObject({ status: "Running", claimedBy: null, heartbeatAt: null });

  await claimRun(world, newcomer, "newcomer");
  await lookForCrowd(world, engine);
  await executeRun(world, runId, remember, "second", wakeUp?.epoch);
  expect(await read(runId)).toMatchObject({ status: "Completed", output: "Two." });
});

it("keeps its place while its process has free ones, whoever waits", async () => {
  const tenant = await createTenant(world);
  const runId = await start(tenant);
  await claimRun(world, await start(tenant), "elsewhere");
  await crowd(tenant);
  expect(await lookForCrowd(world, { ...engine, full: () => false })).toBe(false);
  play = () => ({ content: "Mine." });
  await executeRun(world, runId, remember, "engine-run");
  expect(await read(runId)).toMatchObject({ status: "Completed", output: "Mine." });
});

it("gives a place that it has just got back before its first step, while its organization owes any", async () => {
  const tenant = await createTenant(world);
  const [first, second] = [await start(tenant), await start(tenant)];
  play = () => {
    throw new Error("no step is due");
  };
  await claimRun(world, await start(tenant), "elsewhere");
  const newcomer = await crowd(tenant);
  for (const runId of [first, second]) {
    await executeRun(world, runId, remember, "engine-run");
    expect(await read(runId)).toMatchObject({ status: "Running", admittedAt: null, heartbeatAt: null });
  }
  await claimRun(world, newcomer, "newcomer");
  await lookForCrowd(world, engine);
});

it("keeps a place that it got again until something was finished on it, and as long as newcomers are patient", async () => {
  const tenant = await createTenant(world);
  const runId = await startWaiting(tenant);
  await claimRun(world, await start(tenant), "elsewhere");
  const newcomer = await crowd(tenant);
  const slow = { ...engine, beginsWithinMs: 5_000 };
  const owe = async () => {
    world.clock.advance(slow.beginsWithinMs + 1);
    expect(await lookForCrowd(world, slow)).toBe(true);
  };
  let calls = 0;
  play = async (request) => {
    calls += 1;
    if (calls === 2) await owe();
    return calculateTwice(request);
  };
  // It is owed all the while: at the first step, which it takes, and at the third, five seconds later.
  for (const steps of [1, 2]) {
    await owe();
    await admitRuns(world, 100);
    const { epoch } = await read(runId);
    await executeRun(world, runId, remember, `engine-run-${steps}`, epoch);
    expect(await read(runId)).toMatchObject({
      stepsExecuted: steps,
      claimedBy: steps === 1 ? null : "engine-run-2",
    });
  }
  expect(await read(runId)).toMatchObject({ status: "Completed", stepsExecuted: 2 });
  expect(calls).toBe(3);
  await claimRun(world, newcomer, "newcomer");
  await lookForCrowd(world, engine);
});

it("gives its place back between two steps of a tool that it has called", async () => {
  const tenant = await createTenant(world);
  const definition = {
    parameters: { type: "object" },
    steps: [
      { id: "one", uses: "generate_text", with: { prompt: "one" } },
      { id: "two", uses: "generate_text", with: { prompt: "two" } },
    ],
    output: "{{ steps.two }}",
  };
  await world.db.toolVersion.updateMany({
    where: { toolId: tenant.toolId },
    data: { definition: JSON.stringify(definition) },
  });
  const asked: string[] = [];
  let newcomer = "";
  play = async ({ messages }) => {
    const last = messages.at(-1);
    asked.push(last?.role === "tool" ? "answer" : (last?.content ?? ""));
    if (last?.content === "one") newcomer = await crowd(tenant);
    if (last?.content === "Hi") return { toolCalls: [{ id: "c", name: "adder", arguments: "{}" }] };
    return { content: `${last?.content}, done` };
  };
  const runId = await start(tenant);
  await executeRun(world, runId, remember, "first");
  expect(await read(runId)).toMatchObject({ status: "Running", admittedAt: null, claimedBy: null });
  expect(asked).toEqual(["Hi", "one"]);

  await claimRun(world, newcomer, "newcomer");
  await lookForCrowd(world, engine);
  const begunAt = (await world.db.step.findFirstOrThrow({ where: { runId } })).startedAt;
  world.clock.advance(9_000);
  await executeRun(world, runId, remember, "second");
  expect(asked).toEqual(["Hi", "one", "two", "answer"]);
  expect(await read(runId)).toMatchObject({ status: "Completed", stepsExecuted: 1 });
  // The step that called the tool was not interrupted: it lasted.
  const viewer = await createMember(world, tenant, "viewer");
  const { steps } = await inspectRun(world, viewer, runId);
  expect(steps).toMatchObject([{ startedAt: begunAt.toISOString(), attempts: [] }]);
  await expectExactCharges(tenant, runId);
});
