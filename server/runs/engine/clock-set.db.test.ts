import pg from "pg";
import { afterAll, expect, it } from "vitest";
import { z } from "zod";
import { defineQuery } from "@/server/base/db/statement";
import { insertRun } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";

const world = await openWorld();
const admin = new pg.Client(world.env.databaseUrl);
await admin.connect();
await admin.query(`
  CREATE SCHEMA set_clock;
  CREATE TABLE set_clock.ahead (hours int);
  INSERT INTO set_clock.ahead VALUES (0);
  CREATE FUNCTION set_clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
    'SELECT pg_catalog.clock_timestamp() + make_interval(hours => hours) FROM set_clock.ahead';
  DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = set_clock, public, pg_catalog', current_database()); END $$`);
afterAll(() => admin.end());
const beside = await openWorld({ beside: world });

const setClock = (hours: number) => admin.query("UPDATE set_clock.ahead SET hours = $1", [hours]);

const READ = defineQuery(
  "read-workers",
  z.object({ id: z.string(), hours: z.number() }),
  "SELECT id, round(extract(epoch FROM heartbeat_at - pg_catalog.clock_timestamp()) / 3600)::int AS hours FROM workers ORDER BY id",
);
const readWorkers = async () => Object.fromEntries((await READ(admin)).map(({ id, hours }) => [id, hours]));
const patiently = { timeout: 30_000 };

it("replaces no living worker when the clock is set, and a dead one though it is set back", async () => {
  const living = [(await world.engine.worker()).id, (await beside.engine.worker()).id];
  const all = (hours: number) => Object.fromEntries(living.map((id) => [id, hours]));
  await setClock(2);
  await expect.poll(readWorkers, patiently).toEqual(all(2));

  const tenant = await createTenant(world);
  const runId = await insertRun(world, tenant, { status: "Running" });
  await admin.query("INSERT INTO workers (id, heartbeat_at) VALUES ('dead', set_clock.clock_timestamp())");
  await admin.query("UPDATE runs SET claimed_by = 'dead', admitted_at = now() WHERE id = $1", [runId]);
  await admin.query("UPDATE organizations SET in_flight = 1 WHERE id = $1", [tenant.orgId]);
  await setClock(0);
  await expect.poll(readWorkers, patiently).toEqual(all(0));
  expect(await world.db.run.findUniqueOrThrow({ where: { id: runId } })).toMatchObject({ claimedBy: null });
});
