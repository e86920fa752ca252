import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "@/server/clock";
import type { ModelReply, ModelRequest } from "@/server/models/port";
import { cancelRun } from "@/server/runs/cancel";
import { startRun } from "@/server/runs/start";
import { lookForCrowd } from "@/server/runs/turns";
import type { Services } from "@/server/services";
import { createTenant, createWorld, quietModels, type Tenant, type World } from "@/server/testing/world";
import { PLACES } from "./driver";
import { BACKLOG, createEngine } from "./start";

/** Real runs on the real embedded engine, from a start to its end. */

let play: (request: ModelRequest) => Partial<ModelReply> | Promise<Partial<ModelReply>>;
let world: World;
const engine = createEngine(() => services);
let services: Services;

beforeAll(async () => {
  world = await createWorld({
    engine,
    models: {
      ...quietModels,
      call: async (request) => ({ ...(await quietModels.call(request)), ...(await play(request)) }),
    },
  });
  services = { ...world, clock: systemClock };
  await engine.start();
});
afterAll(async () => {
  await engine.stop(1_000);
  await world.close();
});

async function start(tenant: Tenant): Promise<string> {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  return (await startRun(services, actor, { kind: "agent", targetId: tenant.agentId, userMessage: "Go" }))
    .runId;
}

async function ended(...runIds: string[]) {
  for (;;) {
    const rows = await world.db.run.findMany({ where: { id: { in: runIds }, finishedAt: { not: null } } });
    if (rows.length === runIds.length) return rows;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const calculateOnce = (request: ModelRequest): Partial<ModelReply> =>
  request.messages.some(({ role }) => role === "tool")
    ? { content: "Two." }
    : { toolCalls: [{ id: "c", name: "calculate", arguments: '{"expression":"1+1"}' }] };

it("takes a run from its start to its end", async () => {
  play = calculateOnce;
  const tenant = await createTenant(world);
  const [run] = await ended(await start(tenant));
  expect(run).toMatchObject({ status: "Completed", output: "Two.", stepsExecuted: 1, epoch: 1 });
});

it("keeps a run longer than ten seconds in one call", async () => {
  let claims: unknown;
  play = async (request) => {
    const rounds = request.messages.filter(({ role }) => role === "tool").length;
    if (rounds === 4) {
      claims = (await world.pool.query("SELECT generation FROM engine.jobs")).rows;
      return { content: "Slowly." };
    }
    await new Promise((resolve) => setTimeout(resolve, 2_600));
    return {
      toolCalls: [{ id: `c${rounds}`, name: "calculate", arguments: `{"expression":"${rounds}+1"}` }],
    };
  };
  const tenant = await createTenant(world);
  const [run] = await ended(await start(tenant));
  expect(run).toMatchObject({ status: "Completed", output: "Slowly.", epoch: 1 });
  expect(claims).toEqual([{ generation: 1 }]);
}, 30_000);

it("admits by the plan's concurrency, and lets another organization pass a long queue", async () => {
  let running = 0;
  let most = 0;
  const gates: (() => void)[] = [];
  play = async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise<void>((open) => gates.push(open));
    running -= 1;
    return { content: "Done." };
  };
  const crowd = await createTenant(world, { plan: { concurrency: 2 } });
  const queued = await Promise.all(Array.from({ length: 20 }, () => start(crowd)));
  while (gates.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));

  play = () => ({ content: "Mine." });
  const other = await createTenant(world);
  const [run] = await ended(await start(other));
  expect(run).toMatchObject({ status: "Completed", output: "Mine." });
  expect(most).toBe(2);
  for (const open of gates) open();
  await ended(...queued);
  expect(most).toBe(2);
});

it("settles a run whose execution fails for reasons of our own as Failed, without its cause", async () => {
  play = () => {
    throw new TypeError("a bug with a secret in it");
  };
  const tenant = await createTenant(world);
  const runId = await start(tenant);
  // The engine tries again with growing pauses; the test does not wait for all of them.
  const { settleGivenUp } = await import("@/server/runs/execute");
  await settleGivenUp(services, runId, new TypeError("a bug with a secret in it"));
  const [run] = await ended(runId);
  expect(run).toMatchObject({ status: "Failed", errorCode: "internal_error", held: expect.anything() });
  expect(run?.errorMessage).not.toContain("secret");
  const { balance } = await world.db.organization.findUniqueOrThrow({ where: { id: tenant.orgId } });
  expect(balance.toString()).toBe("100");
});

it("executes a run whose event the engine took and lost: another event wakes it", async () => {
  const tenant = await createTenant(world, { plan: { concurrency: 1 } });
  const gates: (() => void)[] = [];
  play = async () => {
    await new Promise<void>((open) => gates.push(open));
    return { content: "First." };
  };
  const first = await start(tenant);
  while (gates.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  // It finds no place, and so stays as it is: admitted three minutes ago, the event taken, nothing come of it.
  const lost = await start(tenant);
  await world.pool.query("INSERT INTO engine.events (id, name, received_at) VALUES ($1, 'lost', now())", [
    lost,
  ]);
  await world.pool.query("UPDATE runs SET admitted_at = now() - interval '3 minutes' WHERE id = $1", [lost]);
  play = () => ({ content: "Found." });
  expect(await ended(lost)).toMatchObject([{ status: "Completed", output: "Found." }]);
  for (const open of gates) open();
  await ended(first);
});

it("lets a run wait for its tools though its organization may run but one: they need no place", async () => {
  play = (request) =>
    request.messages.some(({ role }) => role === "tool")
      ? { content: "Three." }
      : { toolCalls: [{ id: "c", name: "adder", arguments: '{"a":1,"b":2}' }] };
  const tenant = await createTenant(world, { plan: { concurrency: 1 } });
  const runs = await ended(...(await Promise.all([start(tenant), start(tenant), start(tenant)])));
  expect(runs.map(({ status }) => status)).toEqual(["Completed", "Completed", "Completed"]);
  expect(
    await world.db.run.count({ where: { organizationId: tenant.orgId, parentRunId: { not: null } } }),
  ).toBe(3);
});

it("answers nothing at /api/inngest: the embedded engine is not reached over HTTP", () => {
  expect(engine.handle(new Request("http://stepwell.test/api/inngest", { method: "POST" }))).toBeNull();
});

it("lets one run of an organization pass 10,000 queued ones of another", async () => {
  play = () => ({ content: "Done." });
  const crowd = await createTenant(world, { credits: "10000", plan: { concurrency: 10_000 } });
  const first = await start(crowd);
  await ended(first);
  await world.pool.query(
    `INSERT INTO runs (id, organization_id, kind, agent_id, target_name, target_version, model, configuration_hash, source,
                       root_run_id, input, created_at, deadline_seconds)
     SELECT copy.id, organization_id, kind, agent_id, target_name, target_version, model, configuration_hash, source,
            copy.id, input, now(), deadline_seconds
     FROM runs, (SELECT overlay(gen_random_uuid()::text placing '7' from 15)::uuid AS id FROM generate_series(1, 10000)) AS copy
     WHERE runs.id = $1`,
    [first],
  );
  engine.ring();
  const finished = () =>
    world.db.run.count({ where: { organizationId: crowd.orgId, finishedAt: { not: null } } });
  while ((await finished()) < 20) await new Promise((resolve) => setTimeout(resolve, 5));

  const other = await createTenant(world);
  const [run] = await ended(await start(other));
  expect(run).toMatchObject({ status: "Completed" });
  const { rows } = await world.pool.query<{ admitted: number; started: number }>(
    `SELECT count(*) FILTER (WHERE q.admitted_at BETWEEN r.created_at AND r.admitted_at)::int AS admitted,
            count(*) FILTER (WHERE q.started_at BETWEEN r.created_at AND r.started_at)::int AS started
     FROM runs r, runs q WHERE r.id = $1 AND q.organization_id = $2`,
    [run?.id, crowd.orgId],
  );
  // A look at the queue or two may have been under way, and what was admitted before it is taken up before it.
  expect(rows[0]?.admitted).toBeLessThanOrEqual(2 * BACKLOG);
  expect(rows[0]?.started).toBeLessThanOrEqual(2 * BACKLOG);
  await world.db.run.deleteMany({
    where: { organizationId: crowd.orgId, status: "Pending", admittedAt: null },
  });
  // Those on their way come to their end before the next test gives the model other words.
  while ((await world.db.run.count({ where: { organizationId: crowd.orgId, finishedAt: null } })) > 0) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}, 60_000);

it("lets one run pass an organization's long runs that have all places: one of them gives its place back", async () => {
  const gates: (() => void)[] = [];
  let calls = 0;
  let held = true;
  play = async (request) => {
    if (request.messages.some(({ content }) => content === "Pass")) return { content: "Passed." };
    calls += 1;
    if (held) await new Promise<void>((open) => gates.push(open));
    return calculateOnce(request);
  };
  const crowd = await createTenant(world, { plan: { concurrency: 100 } });
  const long = await Promise.all(Array.from({ length: 70 }, () => start(crowd)));
  while (gates.length < PLACES) await new Promise((resolve) => setTimeout(resolve, 10));

  const other = await createTenant(world);
  const actor = { kind: "operator", orgId: other.orgId, name: "test" } as const;
  const single = { kind: "agent", targetId: other.agentId, userMessage: "Pass" } as const;
  const { runId } = await startRun(services, actor, single);
  while (!(await lookForCrowd(services, { full: () => true, beginsWithinMs: 250 })))
    await new Promise((resolve) => setTimeout(resolve, 10));
  // One of forty calls of a model ends: that is all that the newcomer waits for.
  gates.shift()?.();
  expect(await ended(runId)).toMatchObject([{ status: "Completed", output: "Passed." }]);
  // The place it left is another long run's; the one that gave it is not back at a model yet.
  expect(await world.db.run.count({ where: { id: { in: long }, finishedAt: { not: null } } })).toBe(0);

  held = false;
  for (const open of gates) open();
  const runs = await ended(...long);
  expect(
    runs.filter(({ status, stepsExecuted }) => status === "Completed" && stepsExecuted === 1),
  ).toHaveLength(70);
  expect(calls).toBe(140);
  expect(Math.max(...runs.map(({ epoch }) => epoch))).toBeGreaterThan(1);
}, 60_000);

it("stops a run that executes in another process: its model call is aborted, it is Cancelled and charged for its use", async () => {
  let asked: () => void = () => {};
  const thinking = new Promise<void>((resolve) => {
    asked = resolve;
  });
  play = async (request) => {
    if (!request.messages.some(({ role }) => role === "tool")) return calculateOnce(request);
    asked();
    return new Promise((_resolve, reject) => {
      request.signal.addEventListener("abort", () => reject(request.signal.reason));
    });
  };
  const tenant = await createTenant(world);
  const runId = await start(tenant);
  await thinking;
  // Another process: the same database, but none of this one's runs in flight.
  const elsewhere: Services = { ...services };
  await cancelRun(elsewhere, tenant.orgId, runId, "Ada");
  const [run] = await ended(runId);
  expect(run).toMatchObject({
    status: "Cancelled",
    cancelledBy: "Ada",
    errorMessage: null,
    stepsExecuted: 1,
  });
  expect(run?.creditsUsed.toString()).toBe("0.024");
  expect((run?.finishedAt?.getTime() ?? 0) - (run?.cancelRequestedAt?.getTime() ?? 0)).toBeLessThan(30_000);
});
