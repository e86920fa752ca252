import { expect, it } from "vitest";
import { WorkerLost } from "@/server/runs/engine/write/writer";
import { startRun } from "@/server/runs/start";
import { insertCallback } from "@/testing/callbacks";
import { executeRun, replaceWorker } from "@/testing/execute";
import {
  createTenant,
  createWorld,
  openWorld,
  scriptedModels,
  type Tenant,
  type World,
} from "@/testing/world";
import { readBacklogs } from "./backlogs";

const world = await openWorld();

async function start({ orgId, agentId }: Tenant): Promise<string> {
  const actor = { kind: "operator", orgId, name: "test" } as const;
  return (await startRun(world, actor, { kind: "agent", targetId: agentId, userMessage: "Hi" })).runId;
}

const read = async () => Object.fromEntries((await readBacklogs(world)).queue);

it("counts waiting runs by why they wait, and the longest wait", async () => {
  const none = { runs: 0, organizations: 0, oldestSeconds: 0 };
  expect(await read()).toEqual({ at_limit: none, below_limit: none });

  const full = await createTenant(world, { plan: { concurrency: 1 } });
  const other = await createTenant(world);
  const first = await start(full);
  world.clock.advance(60_000);
  await start(full);
  await start(other);
  world.clock.advance(30_000);
  expect(await read()).toEqual({
    at_limit: none,
    below_limit: { runs: 3, organizations: 2, oldestSeconds: 90 },
  });

  await world.db.organization.update({ where: { id: full.orgId }, data: { inFlight: 1 } });
  expect(await read()).toEqual({
    at_limit: { runs: 2, organizations: 1, oldestSeconds: 90 },
    below_limit: { runs: 1, organizations: 1, oldestSeconds: 30 },
  });

  // A run that waits again: for a slot since it yielded, after a timer since that was over.
  await world.db.run.update({ where: { id: first }, data: { yieldedAt: [world.clock.now()] } });
  world.clock.advance(10_000);
  expect((await read()).at_limit?.oldestSeconds).toBe(40);
  const until = world.clock.now();
  const event = { runId: first, n: 2, organizationId: full.orgId, reason: "timer", until };
  await world.db.runEvent.create({ data: { ...event, createdAt: until } });
  await world.db.run.deleteMany({ where: { organizationId: full.orgId, id: { not: first } } });
  world.clock.advance(5_000);
  expect(await read()).toMatchObject({ at_limit: { runs: 1, oldestSeconds: 5 } });
});

it("a run that was taken over waits since its worker's last journal row", async () => {
  const own: World = await createWorld({
    models: scriptedModels(async ({ messages }) => {
      if (messages.some(({ role }) => role === "tool")) {
        await replaceWorker(own);
        return {};
      }
      own.clock.advance(600_000);
      return { content: "", toolCalls: [{ id: "c", name: "calculate", arguments: '{"expression":"1+2"}' }] };
    }),
  });
  try {
    const { orgId, agentId } = await createTenant(own);
    const actor = { kind: "operator", orgId, name: "test" } as const;
    const { runId } = await startRun(own, actor, { kind: "agent", targetId: agentId, userMessage: "Hi" });
    await expect(executeRun(own, runId)).rejects.toThrow(WorkerLost);
    own.clock.advance(5_000);
    const queue = Object.fromEntries((await readBacklogs(own)).queue);
    expect(queue.below_limit).toMatchObject({ runs: 1, oldestSeconds: 5 });
  } finally {
    await own.close();
  }
});

it("counts runs that are not indexed yet", async () => {
  const count = await world.pool.query("SELECT count(*)::int AS n FROM run_index_queue");
  expect((await readBacklogs(world)).rows.get("run_index")).toBe(count.rows[0].n);
});

it("counts callbacks that are due and that somebody would send", async () => {
  const tenant = await createTenant(world);
  const { id } = await insertCallback(world, tenant, { url: "https://example.com/hook" });
  await world.pool.query(
    `WITH events AS (
       INSERT INTO callback_events (id, organization_id, type, created_at, expanded_at)
       SELECT gen_random_uuid(), $1, 'run.completed', $3, $3 FROM generate_series(1, 3) RETURNING id)
     INSERT INTO callback_deliveries (id, organization_id, event_id, endpoint_id, created_at, next_at)
     SELECT gen_random_uuid(), $1, id, $2, $3, $3::timestamptz + (row_number() OVER () - 2) * interval '1 hour' FROM events`,
    [tenant.orgId, id, world.clock.now()],
  );
  const count = async () => (await readBacklogs(world)).rows.get("callbacks");
  // The third is a later attempt.
  expect(await count()).toBe(2);
  const organization = { where: { id: tenant.orgId } };
  await world.db.organization.update({ ...organization, data: { suspendedAt: world.clock.now() } });
  expect(await count()).toBe(0);
  await world.db.organization.update({ ...organization, data: { suspendedAt: null } });
  expect(await count()).toBe(2);
  await world.db.callbackEndpoint.update({ where: { id }, data: { deletedAt: world.clock.now() } });
  expect(await count()).toBe(0);
});
