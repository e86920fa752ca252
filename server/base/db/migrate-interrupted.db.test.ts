// @module-tag once
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "@/testing/database";
import { openDatabaseProxy } from "@/testing/servers/database-proxy";
import { connect } from "./client";
import { migrate } from "./migrate";
import { prepareDatabase } from "./prepare-database";

let database: TestDatabase;
let root: string;
let client: pg.Client;
let lines: string[];
const print = (line: string) => void lines.push(line);

beforeEach(async () => {
  database = await createTestDatabase();
  root = mkdtempSync(join(tmpdir(), "migrations-"));
  cpSync(join(import.meta.dirname, "../../../prisma/migrations"), migrations(), { recursive: true });
  client = await connect(database.url);
  lines = [];
});
afterEach(async () => {
  await client.end();
  await database.drop();
  rmSync(root, { recursive: true });
});

const migrations = () => join(root, "prisma/migrations");

async function open(): Promise<pg.Client> {
  const opened = new pg.Client({ connectionString: database.url });
  opened.on("error", () => {});
  await opened.connect();
  return opened;
}

function addMigration(name: string, sql: string): void {
  const folder = join(migrations(), `20991231000000_${name}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "migration.sql"), sql);
}

async function recorded(): Promise<Record<string, number>> {
  const { rows } = await client.query(
    "SELECT substr(migration_name, 16) AS name, count(*)::int AS n FROM _prisma_migrations WHERE migration_name > '2099' GROUP BY 1",
  );
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
}

async function untilExecuting(start: string): Promise<number> {
  let pid = 0;
  await expect
    .poll(
      async () => {
        const { rows } = await client.query(
          "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND starts_with(query, $1)",
          [start],
        );
        pid = rows[0]?.pid ?? 0;
        return pid;
      },
      { timeout: 30_000 },
    )
    .toBeGreaterThan(0);
  return pid;
}

it.each(
  ["BEGIN", "CREATE TABLE first_cut", "INSERT INTO _prisma_migrations", "COMMIT"].flatMap((request) =>
    (["before", "after"] as const).map((moment) => [moment, request] as const),
  ),
)("finishes by itself if the connection breaks %s %s", async (moment, request) => {
  addMigration("a", "CREATE TABLE first_cut (id int);");
  addMigration("b", "CREATE TABLE second_cut (id int);");
  const proxy = await openDatabaseProxy(database.url);
  proxy.cut({ request, moment });
  await prepareDatabase(proxy.url, root, print);
  expect(proxy.left()).toBe(0);
  await proxy.close();
  expect(await recorded()).toEqual({ a: 1, b: 1 });
  expect(lines).toContainEqual(expect.stringMatching(/connection .* lost .* trying again/i));
});

it("finishes after the process that migrated was killed in the middle of a statement", async () => {
  await client.query("CREATE TABLE opened ()");
  const sql = "CREATE TABLE half (id int); SELECT pg_sleep(3600) WHERE to_regclass('opened') IS NOT NULL;";
  addMigration("slow", sql);
  const killed = await open();
  const ended = migrate(killed, migrations()).catch(String);
  await untilExecuting("CREATE TABLE half");
  const { stream } = killed.connection;
  if (stream instanceof Socket) stream.destroy();
  await ended;
  await client.query("DROP TABLE opened");
  // PostgreSQL would notice the death of a client only at the end of its statement.
  await prepareDatabase(database.url, root, print);
  expect(await recorded()).toEqual({ slow: 1 });
});

it("reports which session it waits for while another process migrates", async () => {
  await client.query("CREATE TABLE opened ()");
  addMigration("slow", "SELECT pg_sleep(3600) WHERE to_regclass('opened') IS NOT NULL;");
  const other = await open();
  const ended = migrate(other, migrations()).catch(String);
  const pid = await untilExecuting("SELECT pg_sleep");
  const preparing = prepareDatabase(database.url, root, print);
  await expect
    .poll(() => lines, { timeout: 30_000 })
    .toContainEqual(expect.stringContaining(`SELECT pg_terminate_backend(${pid})`));
  await client.query("DROP TABLE opened");
  await client.query("SELECT pg_terminate_backend($1)", [pid]);
  await preparing;
  expect(await ended).toMatch(/was lost|terminat/);
  await other.end().catch(() => {});
  expect(await recorded()).toEqual({ slow: 1 });
});

it("does not stop the processes of the earlier version while it waits for one of their transactions", async () => {
  addMigration("column", "ALTER TABLE runs ADD COLUMN added int;");
  const exporting = await open();
  await exporting.query("BEGIN");
  await exporting.query("SELECT id FROM runs");
  const preparing = prepareDatabase(database.url, root, print);
  await untilExecuting("ALTER TABLE runs");
  // It queues behind the migration, which waits for the export.
  const reader = await connect(database.url);
  await reader.query("SELECT id FROM runs");
  expect(await recorded()).toEqual({});
  await exporting.query("COMMIT");
  await preparing;
  await exporting.end();
  await reader.end();
  expect(await recorded()).toEqual({ column: 1 });
});
