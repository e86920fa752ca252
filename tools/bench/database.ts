import pg from "pg";
import { joinPostgres } from "../../scripts/postgres/postgres.mjs";
import { runningCluster } from "../../scripts/postgres/postgres-cluster.mjs";
import { startThrowawayCluster } from "../../scripts/postgres/throwaway.mjs";

export type Database = Awaited<ReturnType<typeof openDatabase>>;

/** The PostgreSQL of a data folder, such as one that `npm run bench:runs` filled. */
export async function joinDatabase(folder: string): Promise<Database> {
  const { url, cluster, leave } = await joinPostgres(folder);
  return { pid: runningCluster(cluster)?.pid ?? 0, url, countStatements: undefined, stop: leave };
}

/** Starts a PostgreSQL for one target. With `counts`, it counts the statements, which costs a little. */
export async function openDatabase({ counts }: { counts: boolean }) {
  const settings = counts ? { shared_preload_libraries: "pg_stat_statements" } : {};
  const cluster = await startThrowawayCluster(settings);
  const client = new pg.Client({ connectionString: cluster.url });
  client.on("error", () => {}); // The server ends first if something fails.
  if (counts) {
    await client.connect();
    await client.query("CREATE SCHEMA bench; CREATE EXTENSION pg_stat_statements SCHEMA bench");
  }
  return {
    pid: cluster.pid,
    url: cluster.url,
    countStatements: counts
      ? async () => {
          const { rows } = await client.query(
            "SELECT coalesce(sum(calls), 0)::int AS calls FROM bench.pg_stat_statements",
          );
          return Number(rows[0].calls);
        }
      : undefined,
    async stop() {
      if (counts) await client.end();
      await cluster.stop();
    },
  };
}
