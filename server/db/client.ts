import { Socket } from "node:net";
import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import type { Logger } from "@/server/log";
import { connectionSettings, TIMEOUTS, type Timeouts } from "./connect";
import { PrismaClient } from "./generated/client";

export type Database = PrismaClient;
/** A client inside `database.$transaction`. */
export type Transaction = Parameters<Parameters<PrismaClient["$transaction"]>[0]>[0];

/**
 * Opens the pool and the Prisma client over it. The pool survives a restart of PostgreSQL: errors of idle connections
 * are logged, not thrown. No call waits longer than `timeouts`.
 */
export function openDatabase(
  url: string,
  log: Logger,
  { maxConnections = 20, timeouts = TIMEOUTS }: { maxConnections?: number; timeouts?: Timeouts } = {},
): { db: Database; pool: pg.Pool } {
  const pool = new pg.Pool({
    ...connectionSettings(url, timeouts),
    max: maxConnections,
  });
  pool.on("error", (error) => log.warn("A database connection was lost", { error: error.message }));
  pool.on("connect", (client) => {
    // Without a listener, an error of an idle checked-out connection would end the process.
    client.on("error", (error) =>
      log.debug("A database connection broke while in use", { error: error.message }),
    );
    breakSilence(client, timeouts.silence);
  });
  const db = new PrismaClient({ adapter: new PrismaPg(pool) });
  return { db, pool };
}

/** Ends a connection that transfers nothing for `ms`, so that its pending query fails. */
function breakSilence(client: pg.PoolClient, ms: number): void {
  const { stream } = client.connection;
  if (!(stream instanceof Socket)) return;
  const silence = Object.assign(new Error("The database does not answer."), { code: "ETIMEDOUT" });
  stream.setTimeout(ms, () => stream.destroy(silence));
}
