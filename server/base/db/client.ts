import { Socket } from "node:net";
import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import type { Logger } from "@/server/base/log";
import { PrismaClient } from "./generated/client";

/** Database timeouts in milliseconds; documented in docs/operating.md. */
export type Timeouts = {
  connection: number;
  /** Includes waiting for locks. The server enforces it. */
  statement: number;
  /** Between statements of a transaction: a frozen process must not keep its locks. The server enforces it. */
  idleInTransaction: number;
  /** No byte while a response is due: the server is frozen or unreachable. Longer than `statement`. */
  silence: number;
};
export const TIMEOUTS: Timeouts = {
  connection: 10_000,
  statement: 10_000,
  idleInTransaction: 10_000,
  silence: 15_000,
};

export function connectionSettings(url: string, timeouts: Timeouts = TIMEOUTS): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: "stepwell",
    connectionTimeoutMillis: timeouts.connection,
    statement_timeout: timeouts.statement,
    idle_in_transaction_session_timeout: timeouts.idleInTransaction,
    keepAlive: true,
    // A firewall may drop connections without traffic.
    keepAliveInitialDelayMillis: 60_000,
  };
}

/** Opens one connection outside the pool. An error while it is idle surfaces with the next statement. */
export async function connect(url: string, timeouts?: Timeouts): Promise<pg.Client> {
  const client = new pg.Client(connectionSettings(url, timeouts));
  client.on("error", () => {});
  await client.connect();
  return client;
}

// They stay open after idle time: a new connection plans each statement again, and loads PostgreSQL's catalogs.
const KEPT_CONNECTIONS = 4;

/**
 * For each connection of the pool (docs/decisions/0042-plans-with-indexes.md). A plan made while a table is new would
 * read all of it for one row, also when it is large.
 */
export const PLAN_WITH_INDEXES = "SET enable_seqscan = off";

export type Database = PrismaClient;
export type Transaction = Parameters<Parameters<PrismaClient["$transaction"]>[0]>[0];

/**
 * Opens the pool and its Prisma client. Errors of idle connections are logged, not thrown, so that the pool
 * survives a restart of PostgreSQL. No call waits longer than `timeouts`.
 */
export function openDatabase(
  url: string,
  log: Logger,
  { maxConnections = 20, timeouts = TIMEOUTS }: { maxConnections?: number; timeouts?: Timeouts } = {},
): { db: Database; pool: pg.Pool } {
  const pool = new pg.Pool({
    ...connectionSettings(url, timeouts),
    max: maxConnections,
    min: Math.min(KEPT_CONNECTIONS, maxConnections),
    async onConnect(client) {
      limitSilence(client, timeouts.silence);
      await client.query(PLAN_WITH_INDEXES);
    },
  });
  pool.on("error", (error) => log.warn("A database connection was lost", { error: error.message }));
  pool.on("connect", (client) => {
    // Without a listener, an error of an idle checked-out connection would end the process.
    client.on("error", (error) =>
      log.debug("A database connection broke while in use", { error: error.message }),
    );
  });
  pool.on("acquire", (client) => streamOf(client)?.setTimeout(timeouts.silence));
  pool.on("release", (_error, client) => streamOf(client)?.setTimeout(0));
  const db = new PrismaClient({ adapter: new PrismaPg(pool) });
  return { db, pool };
}

/** Breaks a connection if no byte passes for `ms`. Each statement on it must take less. */
export function limitSilence(client: pg.ClientBase, ms: number): void {
  const stream = streamOf(client);
  const silence = Object.assign(new Error("The database does not answer."), { code: "ETIMEDOUT" });
  stream?.on("timeout", () => stream.destroy(silence)).setTimeout(ms);
}

function streamOf(client: pg.ClientBase): Socket | undefined {
  const stream = client instanceof pg.Client ? client.connection.stream : undefined;
  return stream instanceof Socket ? stream : undefined;
}
