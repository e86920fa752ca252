import { Socket } from "node:net";
import type { Pool, PoolClient } from "pg";
import { codeOf } from "./outage";

/** Runs `work` in one transaction on one connection; rolls back when it throws. */
export async function transact<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = false;
  try {
    await client.query("BEGIN");
    const result = await work(client);
    await client.query("COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {
      broken = true;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Advisory locks for work that only one process does at a time. */
export const LOCKS = { migration: 7_305_000, retention: 7_305_002, counting: 7_305_003 } as const;

/** Does `work` on one connection while no other process holds the lock; null if another one does. */
export async function withAdvisoryLock<T>(
  pool: Pool,
  lock: number,
  work: (client: PoolClient) => Promise<T>,
): Promise<T | null> {
  const client = await pool.connect();
  let broken = true;
  try {
    const { rows } = await client.query<{ taken: boolean }>("SELECT pg_try_advisory_lock($1) AS taken", [
      lock,
    ]);
    const taken = rows[0]?.taken === true;
    const result = taken ? await work(client) : null;
    if (taken) await client.query("SELECT pg_advisory_unlock($1)", [lock]);
    broken = false;
    return result;
  } finally {
    // Closing a connection that may hold the lock releases it.
    client.release(broken);
  }
}

/** Reads in one transaction without the pool's statement timeout (`TIMEOUTS` in connect.ts). For exports. */
export function readWithoutTimeout<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return transact(pool, async (client) => {
    const restoreTimeout = suspendSocketTimeout(client);
    try {
      await client.query("SET TRANSACTION READ ONLY");
      await client.query("SET LOCAL statement_timeout = 0");
      return await work(client);
    } finally {
      restoreTimeout();
    }
  });
}

/** Disables a connection's socket timeout; the returned function restores it. */
export function suspendSocketTimeout(client: PoolClient): () => void {
  const { stream } = client.connection;
  if (!(stream instanceof Socket)) return () => {};
  const silence = stream.timeout ?? 0;
  stream.setTimeout(0);
  return () => void stream.setTimeout(silence);
}

export const isForeignKeyViolation = (error: unknown, constraint: string) =>
  codeOf(error) === "23503" && constraintOf(error) === constraint;

export const isUniqueViolation = (error: unknown, constraint: string) =>
  codeOf(error) === "23505" && constraintOf(error) === constraint;

const constraintOf = (error: unknown) =>
  error instanceof Error && "constraint" in error ? error.constraint : null;
