import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { openDatabaseProxy } from "@/testing/servers/database-proxy";
import { joinPostgres } from "../../scripts/postgres/postgres.mjs";
import { runningCluster } from "../../scripts/postgres/postgres-cluster.mjs";
import { childrenOf } from "../process-figures";

export type Database = Awaited<ReturnType<typeof startDatabase>>;

/**
 * A PostgreSQL behind a TCP proxy: it can be killed, and its connections can be cut so that statements are committed
 * whose responses never arrive.
 */
export async function startDatabase(dataDir: string) {
  let joined = await joinPostgres(dataDir);
  const proxy = await openDatabaseProxy(joined.url);

  const query = async <Row extends pg.QueryResultRow>(
    sql: string,
    parameters: unknown[] = [],
  ): Promise<Row[]> => {
    for (let attempt = 0; ; attempt += 1) {
      const client = new pg.Client({ connectionString: joined.url });
      client.on("error", () => {});
      try {
        await client.connect();
        return (await client.query<Row>(sql, parameters)).rows;
      } catch (error) {
        if (attempt === 50) throw error;
        await sleep(200);
      } finally {
        await client.end().catch(() => {});
      }
    }
  };

  return {
    url: proxy.url,
    query,
    cutConnections: proxy.cutAll,

    async endBackends() {
      await query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'stepwell'",
      );
    },

    async kill() {
      const running = runningCluster(joined.cluster);
      if (running) for (const pid of [running.pid, ...childrenOf(running.pid)]) kill(pid);
      await sleep(Math.random() * 2_000);
      joined = await joinPostgres(dataDir);
    },

    async stop() {
      await proxy.close();
      await joined.leave();
    },
  };
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}
