import { connect, createServer, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { handleRest } from "@/server/api/rest";
import { operatorOf } from "@/server/catalog/organization/organizations";
import { removeOrganization } from "@/server/operate/remove-organization";
import { listen } from "@/testing/servers/listen";
import { createTenant, openWorld } from "@/testing/world";
import { openDatabase, type Timeouts } from "./client";
import { readWithoutTimeout } from "./transaction";

const timeouts: Timeouts = { connection: 2_000, statement: 600, idleInTransaction: 600, silence: 1_200 };
const closers: (() => Promise<unknown>)[] = [];

const world = await openWorld({ timeouts });
const tenant = await createTenant(world);
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function openThroughLine(limits: Timeouts) {
  const target = new URL(world.env.databaseUrl);
  const sockets = new Set<Socket>();
  let silent = false;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("data", (data) => silent || to.write(data));
      from.on("error", () => {});
      from.on("close", () => to.destroy());
    }
  });
  const url = new URL(target);
  url.port = String(await listen(server));
  const { db, pool } = openDatabase(url.href, world.log, { maxConnections: 2, timeouts: limits });
  closers.push(async () => {
    await Promise.all([db.$disconnect(), pool.end()]);
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    pool,
    db,
    fallSilent(now: boolean) {
      silent = now;
    },
  };
}

async function lockAgents() {
  const holder = openDatabase(world.env.databaseUrl, world.log, {
    timeouts: { ...timeouts, idleInTransaction: 60_000, silence: 60_000 },
  });
  const client = await holder.pool.connect();
  await client.query("BEGIN");
  await client.query("LOCK TABLE agents IN ACCESS EXCLUSIVE MODE");
  return async () => {
    await client.query("ROLLBACK");
    client.release();
    await holder.pool.end();
  };
}

const startRun = () =>
  handleRest(
    world,
    new Request(`http://stepwell.test/v1/agents/run/${tenant.agentId}`, {
      method: "POST",
      headers: { "X-API-Key": tenant.key, "Content-Type": "application/json" },
      body: JSON.stringify({ userMessage: "Hi" }),
    }),
  );

it("ends a stuck statement with a clear error, and runs the next one", async () => {
  const unlock = await lockAgents();
  const stuck = await startRun();
  expect([stuck.status, await stuck.json()]).toMatchObject([500, { code: "internal_error" }]);
  await unlock();
  expect((await startRun()).status).toBe(200);
  expect(await world.db.run.count({ where: { organizationId: tenant.orgId } })).toBe(1);
});

it("releases the locks of a process that froze during a transaction", async () => {
  // A frozen process does not break its own connections.
  const own = openDatabase(world.env.databaseUrl, world.log, { timeouts: { ...timeouts, silence: 60_000 } });
  closers.push(() => own.pool.end());
  const frozen = await own.pool.connect();
  await frozen.query("BEGIN");
  await frozen.query("SELECT 1 FROM organizations WHERE id = $1 FOR UPDATE", [tenant.orgId]);
  await expect.poll(async () => (await startRun()).status).toBe(200);
  await expect(frozen.query("COMMIT")).rejects.toThrow();
  frozen.release(true);
});

it("closes a connection whose server went silent, in a transaction too, and uses new ones", async () => {
  const line = await openThroughLine(timeouts);
  expect((await line.pool.query("SELECT 1 AS n")).rows).toEqual([{ n: 1 }]);
  line.fallSilent(true);
  const began = Date.now();
  const waiting = await Promise.allSettled([
    line.pool.query("SELECT 2"),
    line.db.$transaction(async (tx) => tx.$queryRaw`SELECT 3`),
    line.pool.query("SELECT 4"),
  ]);
  expect(waiting.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(Date.now() - began).toBeLessThan(10_000);
  line.fallSilent(false);
  await expect.poll(async () => (await line.pool.query("SELECT 5 AS n")).rows).toEqual([{ n: 5 }]);
  expect(await line.db.$transaction(async (tx) => tx.$queryRaw`SELECT 6 AS n`)).toEqual([{ n: 6 }]);
});

it("does not limit the time of an export", async () => {
  const slow = "SELECT 'done' AS word FROM pg_sleep(2)";
  await expect(world.pool.query(slow)).rejects.toThrow("statement timeout");
  const { rows } = await readWithoutTimeout(world.pool, (client) => client.query(slow));
  expect(rows).toEqual([{ word: "done" }]);
  // The timeouts of its connection apply again.
  await expect(Promise.all(Array.from({ length: 20 }, () => world.pool.query(slow)))).rejects.toThrow();
});

it("does not limit the time in which an organization is deleted", async () => {
  const { slug, orgId } = await createTenant(world);
  // As the deletion of a large ledger.
  await world.pool.query(`
    CREATE FUNCTION delete_slowly() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_sleep(1.5); RETURN OLD; END $$;
    CREATE TRIGGER delete_slowly BEFORE DELETE ON organizations FOR EACH ROW EXECUTE FUNCTION delete_slowly()`);
  await removeOrganization(world, await operatorOf(world, slug));
  expect(await world.db.organization.count({ where: { id: orgId } })).toBe(0);
});

it("keeps an idle connection longer than a connection may be silent", async () => {
  const { pool } = openDatabase(world.env.databaseUrl, world.log, {
    timeouts: { ...timeouts, silence: 1_000 },
  });
  closers.push(() => pool.end());
  const ask = async () => (await pool.query("SELECT pg_backend_pid() AS pid")).rows;
  const before = await ask();
  for (let n = 0; n < 3; n += 1) await world.pool.query("SELECT pg_sleep(0.4)");
  expect(await ask()).toEqual(before);
});

it("plans statements that a new, still empty table gets to use its indexes later", async () => {
  const { pool } = openDatabase(world.env.databaseUrl, world.log, { maxConnections: 1 });
  closers.push(() => pool.end());
  const find = {
    name: "find",
    text: "SELECT id FROM runs WHERE id = ANY($1::uuid[])",
    values: [[tenant.agentId]],
  };
  // The sixth and later ones share a plan.
  for (let n = 0; n < 7; n += 1) await pool.query(find);
  const { rows } = await pool.query(`EXPLAIN EXECUTE find('{${tenant.agentId}}')`);
  expect(JSON.stringify(rows)).toContain("runs_pkey");
});
