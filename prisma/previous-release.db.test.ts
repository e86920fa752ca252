import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { expect, it } from "vitest";
import { migrate } from "@/server/base/db/migrate";
import { newId } from "@/server/base/ids";
import { createTestDatabase } from "@/testing/database";

/** The schema of the previous release, its rows, and its writes on the migrated database. */

const MIGRATIONS = join(import.meta.dirname, "migrations");
/** The first migration that the previous release lacks. */
const FIRST = "20261126173500_forks";

async function writeOrganization(client: pg.Client, slug: string): Promise<void> {
  const [org, agent, tool, trigger, schedule, run, step, call] = Array.from({ length: 8 }, () => newId());
  const insert = async (table: string, row: Record<string, unknown>) => {
    const columns = Object.keys(row);
    const values = columns.map((_, n) => `$${n + 1}`);
    const text = `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${values.join(", ")})`;
    await client.query(text, Object.values(row));
  };
  const at = new Date("2026-11-26T10:00:00Z");
  const times = { created_at: at, updated_at: at };
  const owned = { organization_id: org, slug, name: slug };
  await insert("organizations", { id: org, slug, name: slug, balance: "9.5", ...times });
  await insert("plans", { organization_id: org, concurrency: 3, updated_at: at });
  await insert("credit_entries", {
    ...{ organization_id: org, sequence: 1, kind: "grant", amount: "9.5", balance_before: "0" },
    ...{ balance_after: "9.5", actor: "operator", created_at: at },
  });
  await insert("agents", { id: agent, ...owned, ...times });
  await insert("tools", { id: tool, ...owned, ...times });
  const version = { number: 1, definition: "{}", created_by: "operator", created_at: at };
  await insert("agent_versions", { agent_id: agent, ...version });
  await insert("tool_versions", { tool_id: tool, ...version });
  const token = { token_hash: Buffer.from(slug.padEnd(32)), token_sealed: "sealed", signature: "hex" };
  await insert("triggers", { id: trigger, ...owned, ...token, agent_id: agent, ...times });
  await insert("schedules", {
    id: schedule,
    ...owned,
    tool_id: tool,
    input: "{}",
    cron: "0 * * * *",
    ...times,
  });
  const configuration_hash = Buffer.alloc(32, slug);
  await insert("configurations", {
    organization_id: org,
    hash: configuration_hash,
    document: "{}",
    created_at: at,
  });
  await insert("runs", {
    ...{
      id: run,
      organization_id: org,
      kind: "agent",
      agent_id: agent,
      target_name: slug,
      target_version: 1,
    },
    ...{
      configuration_hash,
      source: "schedule",
      schedule_id: schedule,
      root_run_id: run,
      input: "{}",
      output: '"Done"',
      model: "m",
    },
    ...{ status: "Completed", deadline_seconds: 900, created_at: at, started_at: at, finished_at: at },
  });
  const part = { organization_id: org, run_id: run, iteration_number: 1, started_at: at };
  await insert("model_calls", { id: call, key: "think-1", provider: "p", model: "m", ...part });
  await insert("steps", { id: step, key: "act-1", step_number: 1, tool_name: "wait", input: "{}", ...part });
}

type Tables = Record<string, Record<string, unknown>[]>;

async function readTables(client: pg.Client, columnsOf?: Tables): Promise<Tables> {
  const { rows } = await client.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename !~ '^(_prisma|sql_)' ORDER BY 1",
  );
  const tables: Tables = {};
  for (const { name } of rows) {
    const found = await client.query(`SELECT to_jsonb(t) AS row FROM ${name} t ORDER BY t::text`);
    const all: Record<string, unknown>[] = found.rows.map(({ row }) => row);
    const known = Object.keys(columnsOf?.[name]?.[0] ?? {});
    if (columnsOf === undefined) tables[name] = all;
    else if (known.length > 0)
      tables[name] = all.map((row) => Object.fromEntries(known.map((column) => [column, row[column]])));
  }
  return tables;
}

it("keeps the rows of the previous release, and accepts what its processes still write", async () => {
  const database = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const earlier = mkdtempSync(join(tmpdir(), "migrations-"));
  for (const name of readdirSync(MIGRATIONS))
    if (name < FIRST) cpSync(join(MIGRATIONS, name), join(earlier, name), { recursive: true });
  await client.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
  // Today's functions name columns, values and types that the earlier migrations don't have yet.
  await migrate(client, earlier, { functions: [] });
  await writeOrganization(client, "before");
  const before = await readTables(client);
  const filled = Object.entries(before).filter(([, rows]) => rows.length > 0);
  expect(filled.length).toBeGreaterThan(12);

  expect((await migrate(client, MIGRATIONS))[0]).toBe(FIRST);
  expect(await readTables(client, before)).toEqual(Object.fromEntries(filled));
  await writeOrganization(client, "after");

  await client.end();
  await database.drop();
  rmSync(earlier, { recursive: true });
});
