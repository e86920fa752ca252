import type pg from "pg";
import { z } from "zod";
import { type Database, openDatabase } from "@/server/base/db/client";
import type { World } from "./world";

const reads = z.tuple([z.object({ scans: z.coerce.number(), rows: z.coerce.number() })]);

/**
 * Counts what `read` reads of a table, as the database does: scans, and rows fetched by them. `read` gets a database
 * with one connection, whose writes are rolled back.
 */
export async function countTableReads(
  { env, log }: World,
  table: string,
  read: (database: { db: Database; pool: pg.Pool }) => Promise<unknown>,
): Promise<{ scans: number; rows: number }> {
  const { db, pool } = openDatabase(env.databaseUrl, log, { maxConnections: 1 });
  const count = async () => {
    const text = `SELECT idx_scan + seq_scan AS scans, idx_tup_fetch + seq_tup_read AS rows
                  FROM pg_stat_xact_user_tables WHERE relname = $1`;
    return reads.parse((await pool.query(text, [table])).rows)[0];
  };
  try {
    await pool.query("BEGIN");
    const before = await count();
    await read({ db, pool });
    const after = await count();
    await pool.query("ROLLBACK");
    return { scans: after.scans - before.scans, rows: after.rows - before.rows };
  } finally {
    await db.$disconnect();
    await pool.end();
  }
}
