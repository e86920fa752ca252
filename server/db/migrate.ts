import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "pg";
import { v4 } from "uuid";
import { LOCKS } from "./transaction";

/** A migration that cannot be applied; the message names it and the way out. */
export class MigrationError extends Error {
  override name = "MigrationError";
}

/**
 * Applies the missing migrations of `folder` (`<name>/migration.sql`) by name, each in one transaction, and records
 * them in Prisma's `_prisma_migrations` table. An advisory lock lets one process through at a time. Returns the names
 * applied.
 */
export async function migrate(client: Client, folder: string): Promise<string[]> {
  await client.query("SELECT pg_advisory_lock($1)", [LOCKS.migration]);
  try {
    await client.query(`
      CREATE TABLE IF NOT EXISTS _prisma_migrations (
        id VARCHAR(36) PRIMARY KEY NOT NULL, checksum VARCHAR(64) NOT NULL, finished_at TIMESTAMPTZ,
        migration_name VARCHAR(255) NOT NULL, logs TEXT, rolled_back_at TIMESTAMPTZ,
        started_at TIMESTAMPTZ NOT NULL DEFAULT now(), applied_steps_count INTEGER NOT NULL DEFAULT 0
      )`);
    const { rows } = await client.query<{ name: string; checksum: string }>(
      "SELECT migration_name AS name, checksum FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL",
    );
    const known = new Map(rows.map((row) => [row.name, row.checksum]));
    const applied: string[] = [];
    for (const { name, sql, checksum } of readMigrations(folder)) {
      const before = known.get(name);
      if (before === undefined) {
        await apply(client, { name, sql, checksum });
        applied.push(name);
      } else if (before !== checksum) {
        throw new MigrationError(
          `The migration ${name} was changed after it had been applied. Restore the file, or add a new migration.`,
        );
      }
    }
    return applied;
  } finally {
    await client.query("SELECT pg_advisory_unlock($1)", [LOCKS.migration]);
  }
}

function readMigrations(folder: string) {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
    .map((name) => {
      const sql = readFileSync(join(folder, name, "migration.sql"), "utf8");
      return { name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
    });
}

async function apply(
  client: Client,
  { name, sql, checksum }: { name: string; sql: string; checksum: string },
): Promise<void> {
  await client.query("BEGIN");
  try {
    await client.query(sql);
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), 1)`,
      [v4(), checksum, name],
    );
    await client.query("COMMIT");
  } catch (cause) {
    await client.query("ROLLBACK");
    throw new MigrationError(
      `The migration ${name} failed: ${cause instanceof Error ? cause.message : cause}`,
      {
        cause,
      },
    );
  }
}
