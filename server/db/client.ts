import { Socket } from "node:net";
import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import type { Logger } from "@/server/log";
import { PrismaClient } from "./generated/client";

export type Database = PrismaClient;
/** A client inside `database.$transaction`. */
export type Transaction = Parameters<Parameters<PrismaClient["$transaction"]>[0]>[0];

/** Milliseconds that the database may take, published in docs/operating.md: whoever asked hears of a fault then. */
export type Patience = {
  /** For a connection: a new one, or one that others have. */
  connection: number;
  /** For one statement, waiting for locks included; the server ends it. */
  statement: number;
  /** Between two statements of a transaction: a process that froze in one must not keep its locks. The server ends it. */
  idleInTransaction: number;
  /** Without a byte from a server that is asked: it is frozen, or the network lost it. Longer than `statement`. */
  silence: number;
};

export const PATIENCE: Patience = {
  connection: 10_000,
  statement: 10_000,
  idleInTransaction: 10_000,
  silence: 15_000,
};

/**
 * Opens the pool and the Prisma client over it. The pool survives a restart of PostgreSQL: errors of idle
 * connections are logged, not thrown. Nothing waits for the database longer than `patience` says.
 */
export function openDatabase(
  url: string,
  log: Logger,
  { maxConnections = 20, patience = PATIENCE }: { maxConnections?: number; patience?: Patience } = {},
): { db: Database; pool: pg.Pool } {
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    application_name: "stepwell",
    connectionTimeoutMillis: patience.connection,
    statement_timeout: patience.statement,
    idle_in_transaction_session_timeout: patience.idleInTransaction,
  });
  pool.on("error", (error) => log.warn("database connection lost", { error: error.message }));
  pool.on("connect", (client) => {
    // One that breaks while it is checked out but asks nothing says so here, and would end the process unheard.
    client.on("error", (error) => log.debug("a database connection broke in use", { error: error.message }));
    breakSilence(client, patience.silence);
  });
  const db = new PrismaClient({ adapter: new PrismaPg(pool) });
  return { db, pool };
}

/** Breaks a connection on which nothing moves for `ms`, so that what waits for it fails. */
function breakSilence(client: pg.PoolClient, ms: number): void {
  const { stream } = client.connection;
  if (!(stream instanceof Socket)) return;
  const silence = Object.assign(new Error("The database does not answer."), { code: "ETIMEDOUT" });
  stream.setTimeout(ms, () => stream.destroy(silence));
}
