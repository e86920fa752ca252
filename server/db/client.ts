import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import type { Logger } from "@/server/log";
import { PrismaClient } from "./generated/client";

export type Database = PrismaClient;
/** A client inside `database.$transaction`. */
export type Transaction = Parameters<Parameters<PrismaClient["$transaction"]>[0]>[0];

/**
 * Opens the pool and the Prisma client over it. The pool survives a restart of PostgreSQL: errors of idle
 * connections are logged, not thrown.
 */
export function openDatabase(url: string, log: Logger, maxConnections = 20): { db: Database; pool: pg.Pool } {
  const pool = new pg.Pool({ connectionString: url, max: maxConnections, application_name: "stepwell" });
  pool.on("error", (error) => log.warn("database connection lost", { error: error.message }));
  const db = new PrismaClient({ adapter: new PrismaPg(pool) });
  return { db, pool };
}
