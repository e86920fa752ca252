import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "@/testing/database";
import { migrate } from "./migrate";

let database: TestDatabase;
let client: pg.Client;
let folder: string;

beforeEach(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  folder = mkdtempSync(join(tmpdir(), "migrations-"));
  cpSync(join(import.meta.dirname, "../../../prisma/migrations"), folder, { recursive: true });
});
afterEach(async () => {
  await client.end();
  await database.drop();
  rmSync(folder, { recursive: true });
});

it("applies nothing twice", async () => {
  expect(await migrate(client, folder)).toEqual([]);
});

it("rejects a migration that was changed after it was applied, and names it", async () => {
  writeFileSync(join(folder, "20261122000000_baseline", "migration.sql"), "SELECT 1");
  await expect(migrate(client, folder)).rejects.toThrow(/20261122000000_baseline was changed/);
});

it("rolls back a failed migration, and lets two processes migrate at once", async () => {
  const broken = join(folder, "20991231000000_broken");
  cpSync(join(folder, "20261122000000_baseline"), broken, { recursive: true });
  writeFileSync(join(broken, "migration.sql"), "CREATE TABLE half (id int); SELECT 1/0;");
  await expect(migrate(client, folder)).rejects.toThrow(/20991231000000_broken failed: division by zero/);
  expect((await client.query("SELECT to_regclass('half') AS half")).rows).toEqual([{ half: null }]);

  writeFileSync(join(broken, "migration.sql"), "CREATE TABLE whole (id int);");
  const second = new pg.Client({ connectionString: database.url });
  await second.connect();
  const applied = await Promise.all([migrate(client, folder), migrate(second, folder)]);
  await second.end();
  expect(applied.flat()).toEqual(["20991231000000_broken"]);
});
