import { Socket } from "node:net";
import type { Pool, PoolClient } from "pg";
import { z } from "zod";
import { codeOf } from "@/server/base/errors";
import type { Services } from "@/server/base/services";
import { type Database, openDatabase, TIMEOUTS, type Transaction } from "./client";
import { defineCommand, defineQuery } from "./statement";

/** Runs statements in one transaction on one connection; rolls back when `work` throws. */
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

/** Reads everything as of one moment. */
export function readAtOnce<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return transact(pool, async (client) => {
    await client.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
    return work(client);
  });
}

/** Reads with a shorter limit for each statement than the pool's. */
export function readBriefly<T>(
  pool: Pool,
  statementMs: number,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return transact(pool, async (client) => {
    await client.query("SET TRANSACTION READ ONLY");
    await client.query(`SET LOCAL statement_timeout = ${statementMs}`);
    return work(client);
  });
}

/** In milliseconds: to get a connection, and for the transaction. */
type TransactionLimits = { maxWait: number; timeout: number };

const LIMITS = {
  short: { maxWait: 2_000, timeout: 5_000 },
  // May have to wait for a large definition file.
  catalog: { maxWait: 10_000, timeout: 30_000 },
  // May have thousands of definitions.
  definitionFile: { maxWait: 30_000, timeout: 120_000 },
} as const satisfies Record<string, TransactionLimits>;

/** Runs `work` with Prisma's models in one transaction; rolls back when it throws. */
export function transactPrisma<T>(
  db: Database,
  kind: keyof typeof LIMITS,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return db.$transaction(work, LIMITS[kind]);
}

const REMOVAL_MS = 600_000;

/**
 * As `transactPrisma`, on a connection of its own, on which a statement may take ten minutes. Prisma does not
 * expose a transaction's connection, so the timeouts of the pool's cannot be changed.
 */
export async function transactRemoval<T>(
  { env, log }: Pick<Services, "env" | "log">,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const timeouts = { ...TIMEOUTS, statement: REMOVAL_MS, silence: REMOVAL_MS + TIMEOUTS.silence };
  const { db, pool } = openDatabase(env.databaseUrl, log, { maxConnections: 1, timeouts });
  try {
    return await db.$transaction(work, { maxWait: TIMEOUTS.connection, timeout: REMOVAL_MS });
  } finally {
    await db.$disconnect();
    await pool.end();
  }
}

const TRY_LOCK = defineQuery(
  "try-advisory-lock",
  z.object({ taken: z.boolean() }),
  "SELECT pg_try_advisory_lock($1) AS taken",
);
const UNLOCK = defineCommand("unlock-advisory-lock", "SELECT pg_advisory_unlock($1)");

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
    const [row] = await TRY_LOCK(client, [lock]);
    const taken = row?.taken === true;
    const result = taken ? await work(client) : null;
    if (taken) await UNLOCK(client, [lock]);
    broken = false;
    return result;
  } finally {
    // Closing a connection that may hold the lock releases it.
    client.release(broken);
  }
}

/** Reads in one transaction without the pool's statement timeout (`TIMEOUTS` in client.ts). For exports. */
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
