import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "pg";
import { v4 } from "uuid";
import { codeOf, StartError } from "@/server/base/errors";
import { sleep } from "@/server/base/sleep";
import { createFunctions } from "./create-functions";
import { type SqlFunction, sqlFunctions } from "./functions";
import { isTransient } from "./outage";
import { LOCKS } from "./transaction";

type Options = { print?: (line: string) => void; functions?: SqlFunction[] };

/**
 * Applies the missing migrations of `folder` (`<name>/migration.sql`) by name, each in one transaction, and creates
 * the SQL functions. One process at a time. Returns the applied names. `print` receives what it waits for. Throws
 * StartError, or the error of a lost connection: then it can be repeated over a new one.
 */
export async function migrate(
  client: Client,
  folder: string,
  { print = () => {}, functions = sqlFunctions() }: Options = {},
): Promise<string[]> {
  await configureSession(client);
  await lock(client, print);
  await client.query(`
    CREATE TABLE IF NOT EXISTS _prisma_migrations (
      id VARCHAR(36) PRIMARY KEY NOT NULL, checksum VARCHAR(64) NOT NULL, finished_at TIMESTAMPTZ,
      migration_name VARCHAR(255) NOT NULL, logs TEXT, rolled_back_at TIMESTAMPTZ,
      started_at TIMESTAMPTZ NOT NULL DEFAULT now(), applied_steps_count INTEGER NOT NULL DEFAULT 0
    )`);
  try {
    const applied = await applyMissing(client, readMigrations(folder), print);
    await createFunctions(client, functions);
    return applied;
  } finally {
    // The end of a broken connection releases the lock, too.
    await unlock(client).catch(() => {});
  }
}

async function applyMissing(
  client: Client,
  migrations: Migration[],
  print: (line: string) => void,
): Promise<string[]> {
  const { rows } = await client.query<{ name: string; checksum: string }>(
    "SELECT migration_name AS name, checksum FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL",
  );
  const known = new Map(rows.map((row) => [row.name, row.checksum]));
  const applied: string[] = [];
  for (const migration of migrations) {
    const { name, checksum } = migration;
    const before = known.get(name);
    if (before === undefined) {
      await applyPatiently(client, migration, print);
      applied.push(name);
    } else if (before !== checksum) {
      throw new StartError(
        `The migration ${name} was changed after it had been applied. Restore the file, or add a new migration.`,
      );
    }
  }
  return applied;
}

// A migration may take hours. If its process is killed, its statement must end, because it holds locks.
async function configureSession(client: Client): Promise<void> {
  await client.query("SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0");
  // PostgreSQL supports this on the common systems only; elsewhere the statement ends by itself.
  await client.query("SET client_connection_check_interval = '1s'").catch((error: unknown) => {
    if (isTransient(error)) throw error;
  });
}

async function lock(client: Client, print: (line: string) => void): Promise<void> {
  const { rows } = await client.query("SELECT pg_try_advisory_lock($1) AS taken", [LOCKS.migration]);
  if (rows[0]?.taken === true) return;
  const { rows: holders } = await client.query(
    `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = 0 AND objid = $1
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [LOCKS.migration],
  );
  for (const { pid } of holders)
    print(
      `Another process migrates the database; waiting. If that process hangs: SELECT pg_terminate_backend(${pid})`,
    );
  await client.query("SELECT pg_advisory_lock($1)", [LOCKS.migration]);
}

const unlock = (client: Client) => client.query("SELECT pg_advisory_unlock($1)", [LOCKS.migration]);

type Migration = { name: string; sql: string; checksum: string };

function readMigrations(folder: string): Migration[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
    .map((name) => {
      const sql = readFileSync(join(folder, name, "migration.sql"), "utf8");
      return { name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
    });
}

// Statements of processes of the earlier version wait behind the migration.
const LOCK_TIMEOUT_MS = 2_000;
/** Those statements continue in this pause. */
const PAUSE_MS = 2_000;
// Longer than a process's longest transaction (`LIMITS` in transaction.ts).
const LOCK_ATTEMPTS = 225;

async function applyPatiently(
  client: Client,
  migration: Migration,
  print: (line: string) => void,
): Promise<void> {
  const { name } = migration;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await apply(client, migration);
    } catch (cause) {
      await client.query("ROLLBACK").catch(() => {});
      if (!BLOCKED.has(codeOf(cause))) {
        if (isTransient(cause)) throw cause;
        throw new StartError(
          `The migration ${name} failed: ${describe(cause)}. It was rolled back. Fix the cause, then start again.`,
          { cause },
        );
      }
      if (attempt === LOCK_ATTEMPTS)
        throw new StartError(
          `The migration ${name} was rolled back: other sessions still hold its locks (${describe(cause)}). ` +
            "Stop the other processes and long queries (pg_stat_activity lists them), then start again.",
          { cause },
        );
      if (attempt === 1)
        print(`The migration ${name} waits for transactions of other processes (${describe(cause)}) …`);
      await sleep(PAUSE_MS);
    }
  }
}

// A lock that was not free in time, and a deadlock.
const BLOCKED = new Set(["55P03", "40P01"]);

const describe = (error: unknown) => (error instanceof Error ? error.message : String(error));

async function apply(client: Client, { name, sql, checksum }: Migration): Promise<void> {
  await client.query("BEGIN");
  await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
  await client.query(sql);
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, now(), 1)`,
    [v4(), checksum, name],
  );
  await client.query("COMMIT");
}
