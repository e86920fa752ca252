import { afterAll, beforeAll, expect, it } from "vitest";
import { ModelError, type ModelReply, type ModelRequest } from "@/server/models/port";
import { createTenant, createWorld, quietModels, type Tenant, type World } from "@/server/testing/world";
import { cancelRun } from "./cancel";
import { executeRun } from "@/server/testing/execute";
import { enterRun } from "./in-flight";
import { claimRun, endRun } from "./lifecycle";
import { startRun } from "./start";

/** Two workers on one run: the older one is held up in front of a statement while a newer one claims, or ends, the run. */

type Script = (request: ModelRequest, call: number) => Partial<ModelReply> | Promise<Partial<ModelReply>>;
let script: Script;
let modelCalls = 0;
let world: World;

beforeAll(async () => {
  world = await createWorld({
    models: {
      ...quietModels,
      async call(request) {
        modelCalls += 1;
        return { ...(await quietModels.call(request)), ...(await script(request, modelCalls)) };
      },
    },
  });
});
afterAll(() => world.close());

const callsAdder: Script = (request) =>
  request.messages.some(({ role }) => role === "tool")
    ? { content: "Three." }
    : { content: "", toolCalls: [{ id: "c", name: "adder", arguments: '{"a":1,"b":2}' }] };

async function start(tenant: Tenant): Promise<string> {
  modelCalls = 0;
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  return (await startRun(world, actor, { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" })).runId;
}

function isNamed(statement: unknown, name: string): boolean {
  return (
    typeof statement === "object" && statement !== null && "name" in statement && statement.name === name
  );
}

/** The world of a worker to whom `happens` before its first statement of this name gets through. */
function heldUpBefore(name: string, happens: () => Promise<unknown>): World {
  let done = false;
  const query = world.pool.query.bind(world.pool);
  const pool = new Proxy(world.pool, {
    get(target, property) {
      if (property === "query") {
        return async (...parts: Parameters<typeof query>) => {
          const statement: unknown = parts[0];
          if (!done && isNamed(statement, name)) {
            done = true;
            await happens();
          }
          return query(...parts);
        };
      }
      const value: unknown = Reflect.get(target, property);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { ...world, pool };
}

/** The world of a worker that dies when it is about to end a run: nothing else takes a connection of its own. */
function unableToEnd(): World {
  const pool = new Proxy(world.pool, {
    get(target, property) {
      if (property === "connect") return () => Promise.reject(new Error("the worker dies here"));
      const value: unknown = Reflect.get(target, property);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { ...world, pool };
}

const lost = /no longer this worker's|has another worker/;
const remember: Remember = (_name, work) => work();
const read = (id: string) => world.db.run.findUniqueOrThrow({ where: { id } });

async function expectNothingOpen(tenant: Tenant): Promise<void> {
  const where = { organizationId: tenant.orgId };
  expect(await world.db.run.count({ where: { ...where, finishedAt: null } })).toBe(0);
  const runs = await world.db.run.aggregate({ where, _sum: { creditsUsed: true } });
  const { balance } = await world.db.organization.findUniqueOrThrow({ where: { id: tenant.orgId } });
  expect(balance.add(runs._sum.creditsUsed ?? 0).toString()).toBe("100");
}

it("leaves a run to the engine's run that executes it, and takes it when that has been silent for 30 seconds", async () => {
  const tenant = await createTenant(world);
  const runId = await start(tenant);
  script = async () => {
    // A second wake-up of the same run: an engine that was slow takes both events.
    await executeRun(world, runId, remember, "second");
    await settleGivenUp(world, runId, new Error("out of attempts"), "second");
    return { content: "Done by the first." };
  };
  await executeRun(world, runId, remember, "first");
  expect(modelCalls).toBe(1);
  expect(await read(runId)).toMatchObject({ status: "Completed", output: "Done by the first.", epoch: 1 });

  const other = await start(tenant);
  expect(await claimRun(world, other, "first")).toMatchObject({ epoch: 1 });
  expect(await claimRun(world, other, "first")).toMatchObject({ epoch: 2 });
  world.clock.advance(30_000);
  expect(await claimRun(world, other, "second")).toBeNull();
  world.clock.advance(1);
  expect(await claimRun(world, other, "second")).toMatchObject({ epoch: 3 });
  expect(await claimRun(world, other, "first")).toBeNull();
  await endRun(world, other, { status: "Cancelled", by: "Ada" });
  await expectNothingOpen(tenant);
});

it("ends a run that was cancelled between two calls of a server at the next one, whichever step that asks for", async () => {
  const tenant = await createTenant(world);
  const runId = await start(tenant);
  await claimRun(world, runId, "first");
  expect(await cancelRun(world, tenant.orgId, runId, "Ada")).toBe(true);
  // Asked for a planned step, the SDK runs no other, and waits for it until its time is up.
  const noOther: Remember = async (name) => {
    throw new Error(`${name} is not the planned step`);
  };
  await executeRun(world, runId, noOther, "first", 0);
  expect(await read(runId)).toMatchObject({ status: "Cancelled", cancelledBy: "Ada" });
  await expectNothingOpen(tenant);
});

it("makes a model call again that had failed when the worker died", async () => {
  const tenant = await createTenant(world);
  script = () => {
    throw new ModelError("The provider says no.", { reason: "unavailable", attempts: [] });
  };
  const runId = await start(tenant);
  await expect(executeRun(unableToEnd(), runId, remember)).rejects.toThrow("dies here");
  const where = { runId };
  expect(await world.db.modelCall.findMany({ where })).toMatchObject([{ key: "think-1", status: "Failed" }]);
  script = () => ({ content: "Now it does." });
  await executeRun(world, runId);
  expect(await read(runId)).toMatchObject({ status: "Completed", output: "Now it does." });
  const [call] = await world.db.modelCall.findMany({ where });
  expect(call).toMatchObject({ key: "think-1", status: "Completed", errorMessage: null });
  await expectNothingOpen(tenant);
});

it.each(["begin-model-call", "finish-model-call", "begin-steps", "finish-step"])(
  "waits for a database that is away at %s, and does nothing twice",
  async (name) => {
    const tenant = await createTenant(world);
    script = callsAdder;
    const runId = await start(tenant);
    const worker = heldUpBefore(name, async () => {
      throw Object.assign(new Error("terminating connection"), { code: "57P01" });
    });
    await executeRun(worker, runId);
    expect(modelCalls).toBe(2);
    expect(await read(runId)).toMatchObject({ status: "Completed", epoch: 1, actionsUsed: 1 });
    await expectNothingOpen(tenant);
  },
);

it("begins no child under a run that has just ended", async () => {
  const tenant = await createTenant(world);
  script = callsAdder;
  const runId = await start(tenant);
  const old = heldUpBefore("insert-child-run", () =>
    endRun(world, runId, { status: "Cancelled", by: "Ada" }),
  );
  await executeRun(old, runId).catch(() => {});
  expect((await read(runId)).status).toBe("Cancelled");
  await expectNothingOpen(tenant);
});

it("refuses the older worker's writes to the children as well", async () => {
  const tenant = await createTenant(world);
  script = callsAdder;
  const runId = await start(tenant);
  let finished = 0;
  const old = heldUpBefore("finish-step", async () => {
    // The newer worker goes all the way while the older one sits in the child's step.
    await executeRun(world, runId);
    finished = (await world.db.step.findMany({ where: { organizationId: tenant.orgId } })).length;
  });
  await expect(executeRun(old, runId)).rejects.toThrow(lost);
  expect(finished).toBe(2);
  expect(await read(runId)).toMatchObject({ status: "Completed", actionsUsed: 1 });
  await expectNothingOpen(tenant);
});

it("takes the children from the older worker at once, not when their turn comes", async () => {
  const tenant = await createTenant(world);
  script = callsAdder;
  const runId = await start(tenant);
  const old = heldUpBefore("finish-step", async () => {
    let claimed = false;
    const newer = heldUpBefore("insert-child-run", async () => {
      claimed = true;
      throw new Error("the newer worker dies here");
    });
    await expect(executeRun(newer, runId)).rejects.toThrow("dies here");
    expect(claimed).toBe(true);
  });
  await expect(executeRun(old, runId)).rejects.toThrow(lost);
  const child = await world.db.run.findFirstOrThrow({ where: { parentRunId: runId } });
  expect(child).toMatchObject({ status: "Running", stepsExecuted: 0 });
  await executeRun(world, runId);
  expect((await read(runId)).status).toBe("Completed");
  await expectNothingOpen(tenant);
});

it("ends a child whose worker died while it was to be cancelled", async () => {
  const tenant = await createTenant(world);
  script = callsAdder;
  const runId = await start(tenant);
  const old = heldUpBefore("finish-step", () => Promise.reject(new Error("the worker dies here")));
  await expect(executeRun(old, runId)).rejects.toThrow("dies here");
  const child = await world.db.run.findFirstOrThrow({ where: { parentRunId: runId } });
  await cancelRun(world, tenant.orgId, child.id, "Ada");
  await executeRun(world, runId);
  expect(await read(child.id)).toMatchObject({ status: "Cancelled", cancelledBy: "Ada" });
  expect(await read(runId)).toMatchObject({ status: "Completed", actionsUsed: 1 });
  await expectNothingOpen(tenant);
});

it("extends no hold for a worker that has lost the run, and does not tell the engine that it ended", async () => {
  const tenant = await createTenant(world);
  script = () => ({ content: "Done." });
  const runId = await start(tenant);
  const before = (await read(runId)).held.toString();
  const remembered: string[] = [];
  const old = heldUpBefore("extend-hold", () => claimRun(world, runId));
  const listening: Remember = async (name, work) => {
    const verdict = await work();
    remembered.push(`${name}: ${verdict}`);
    return verdict;
  };
  await expect(executeRun(old, runId, listening)).rejects.toThrow(lost);
  expect(remembered).toEqual([]);
  expect((await read(runId)).held.toString()).toBe(before);
});

it("does not tell the engine that a run ended at its deadline which another worker has", async () => {
  const tenant = await createTenant(world);
  script = callsAdder;
  const runId = await start(tenant);
  const verdicts: string[] = [];
  const late: Remember = async (name, work) => {
    if (name === "act-1") {
      await claimRun(world, runId);
      world.clock.advance(901_000);
    }
    const verdict = await work();
    verdicts.push(`${name}: ${verdict}`);
    return verdict;
  };
  await expect(executeRun(world, runId, late)).rejects.toThrow(lost);
  expect(verdicts).toEqual(["think-1: done"]);
  expect((await read(runId)).status).toBe("Running");
});

it("tells a worker by its heartbeat that another one has the run, and beats for the newest alone", async () => {
  const tenant = await createTenant(world);
  const runId = await start(tenant);
  script = async (request) => {
    await claimRun(world, runId);
    world.clock.advance(1_000);
    return new Promise((_resolve, reject) => {
      request.signal.addEventListener("abort", () => reject(request.signal.reason));
    });
  };
  const claimedAt = world.clock.now();
  await expect(executeRun(world, runId)).rejects.toThrow(lost);
  expect((await read(runId)).heartbeatAt).toEqual(claimedAt);
});

it("waits with its heartbeats in the order in which runs are ended: callers before what they called", async () => {
  const tenant = await createTenant(world);
  const [first, second] = [await start(tenant), await start(tenant)];
  const client = await world.pool.connect();
  const leave: (() => void)[] = [];
  try {
    // In the order that is not theirs, as they may be found in.
    for (const runId of [second, first]) {
      const run = await claimRun(world, runId);
      if (run === null) throw new Error("the run could not be claimed");
      leave.push(enterRun(world, run, new AbortController()));
    }
    await client.query("BEGIN");
    await client.query("SELECT FROM runs WHERE id = $1 FOR UPDATE", [first]);
    const waiting = `SELECT 1 FROM pg_stat_activity
      WHERE wait_event_type = 'Lock' AND datname = current_database() AND query LIKE '%heartbeat_at%'`;
    await expect
      .poll(async () => (await world.pool.query(waiting)).rowCount, { timeout: 10_000, interval: 50 })
      .toBe(1);
    await client.query("SELECT FROM runs WHERE id = $1 FOR UPDATE NOWAIT", [second]);
  } finally {
    await client.query("ROLLBACK");
    client.release();
    for (const go of leave) go();
  }
  for (const runId of [first, second]) await endRun(world, runId, { status: "Cancelled", by: "Ada" });
}, 20_000);
