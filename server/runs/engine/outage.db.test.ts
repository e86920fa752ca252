// @module-tag once
import { afterEach, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { defineQuery } from "@/server/base/db/statement";
import { createProcess } from "@/testing/process";
import { insertRun } from "@/testing/runs";
import { openDatabaseProxy } from "@/testing/servers/database-proxy";
import { createTenant, createWorld, quietModels, type Tenant, type World } from "@/testing/world";
import { startRun } from "../start";

let world: World;
const closing: (() => Promise<void>)[] = [];
beforeEach(async () => {
  world = await createWorld();
  closing.push(() => world.close());
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A process whose model calls wait until they are released, behind its own proxy to the database. */
async function openProcess() {
  const proxy = await openDatabaseProxy(world.env.databaseUrl);
  closing.push(proxy.close);
  const calls: (() => void)[] = [];
  const process = createProcess(
    { ...world, env: { ...world.env, databaseUrl: proxy.url } },
    {
      call: async (request) => {
        await new Promise<void>((release) => calls.push(release));
        return quietModels.call(request);
      },
    },
  );
  closing.push(() => process.stop());
  await process.engine.execute();
  const worker = await process.engine.worker();
  return { proxy, process, calls, worker };
}

async function startIn({ process, calls }: Awaited<ReturnType<typeof openProcess>>, tenant: Tenant) {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const request = { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" } as const;
  const { runId } = await startRun(process, actor, request);
  await expect.poll(() => calls.length).toBe(1);
  return runId;
}

const read = (id: string) => world.db.run.findUniqueOrThrow({ where: { id } });

const READ = defineQuery(
  "read-silence",
  z.object({ id: z.string(), seconds: z.number() }),
  "SELECT id, extract(epoch FROM clock_timestamp() - heartbeat_at)::float8 AS seconds FROM workers",
);
const readSilence = async (id: string) =>
  (await READ(world.pool)).find((worker) => worker.id === id)?.seconds ?? Number.NaN;

it.each(["silent", "unreachable"] as const)(
  "processes do not replace each other after the database was %s for all",
  async (outage) => {
    const [first, second] = [await openProcess(), await openProcess()];
    const [tenant, other] = [await createTenant(world), await createTenant(world)];
    const runs = [await startIn(first, tenant), await startIn(second, other)];
    const interrupt = (proxy: typeof first.proxy, now: boolean) =>
      outage === "silent" ? proxy.silence(now) : proxy.reject(now);

    for (const { proxy } of [first, second]) interrupt(proxy, true);
    for (const { worker } of [first, second])
      await expect.poll(() => readSilence(worker.id)).toBeGreaterThan(2.5);
    // The first process reports again before the other one.
    interrupt(first.proxy, false);
    await expect.poll(() => readSilence(first.worker.id)).toBeLessThan(0.4);
    await expect.poll(() => first.worker.isConfirmed()).toBe(true);
    interrupt(second.proxy, false);
    await expect.poll(() => second.worker.isConfirmed()).toBe(true);

    for (const { calls } of [first, second]) for (const release of calls) release();
    for (const id of runs) {
      await expect.poll(async () => (await read(id)).status).toBe("Completed");
      expect(await read(id)).toMatchObject({ epoch: 1, crashes: 0 });
    }
    expect([first.calls.length, second.calls.length]).toEqual([1, 1]);
  },
);

it("replaces a process that died while the database was unreachable, soon after", async () => {
  const [dead, living] = [await openProcess(), await openProcess()];
  const runId = await startIn(dead, await createTenant(world));
  for (const { proxy } of [dead, living]) proxy.reject(true);
  await expect.poll(() => readSilence(living.worker.id)).toBeGreaterThan(2.5);
  living.proxy.reject(false);
  await expect.poll(() => readSilence(living.worker.id)).toBeLessThan(0.4);
  const backAt = performance.now();
  await expect.poll(() => living.calls.length).toBe(1);
  expect(performance.now() - backAt).toBeLessThan(10_000);
  living.calls[0]?.();
  await expect.poll(async () => (await read(runId)).status).toBe("Completed");
  expect(await read(runId)).toMatchObject({ epoch: 2, crashes: 1 });
  dead.proxy.reject(false);
});

it("replaces a silent process though its own heartbeats are slow", async () => {
  const { proxy, worker } = await openProcess();
  proxy.delay(700);
  await expect.poll(() => readSilence(worker.id)).toBeGreaterThan(0.6);
  const heartbeat = "clock_timestamp() - interval '1 minute'";
  await world.pool.query(`INSERT INTO workers (id, heartbeat_at) VALUES ('silent', ${heartbeat})`);
  await expect.poll(() => world.db.worker.count({ where: { id: "silent" } })).toBe(0);
  expect(worker.isConfirmed()).toBe(true);
});

const READ_WAITING = defineQuery(
  "read-waiting-removals",
  z.object({ seconds: z.number() }),
  `SELECT extract(epoch FROM clock_timestamp() - query_start)::float8 AS seconds FROM pg_stat_activity
   WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%remove_worker(%'`,
);

it("reports while the replacement of another worker waits for its frozen transaction", async () => {
  const living = await openProcess();
  const tenant = await createTenant(world);
  const runId = await insertRun(world, tenant, { status: "Running" });
  const frozen = await world.pool.connect();
  closing.push(async () => frozen.release(true));
  await frozen.query("BEGIN");
  await frozen.query("UPDATE organizations SET in_flight = 1 WHERE id = $1", [tenant.orgId]);
  await world.pool.query(
    "INSERT INTO workers (id, heartbeat_at) VALUES ('frozen', now() - interval '1 minute')",
  );
  await world.pool.query("UPDATE runs SET claimed_by = 'frozen', admitted_at = now() WHERE id = $1", [runId]);

  const longest = async () => Math.max(0, ...(await READ_WAITING(world.pool)).map(({ seconds }) => seconds));
  await expect.poll(longest).toBeGreaterThan(3);
  expect(await readSilence(living.worker.id)).toBeLessThan(2);
  expect(living.worker.isConfirmed()).toBe(true);
  expect(await READ_WAITING(world.pool)).toHaveLength(1);

  await frozen.query("COMMIT");
  await expect.poll(async () => (await read(runId)).claimedBy).not.toBe("frozen");
});
