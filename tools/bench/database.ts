import pg from "pg";
import { startThrowawayCluster } from "../../scripts/support/throwaway.mjs";

export type Database = Awaited<ReturnType<typeof openDatabase>>;

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
