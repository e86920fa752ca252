import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, type ClientConfig } from "pg";
import { clusterUrl, createCluster, startCluster, stopCluster } from "@/scripts/postgres-cluster.mjs";
import { makeThrowaway, removeThrowaway } from "@/scripts/throwaway.mjs";

// From the repository's root, where tests and scripts are run: bundled code has no place of its own.
const ENGINE_MIGRATION = "prisma/migrations/20261121000100_engine/migration.sql";

/** A Postgres of one's own, for tests that must stop and restart it. */
export type OwnPostgres = {
  connection: ClientConfig & { host: string; port: number; user: string; password: string; database: string };
  /** Stops it at once without a checkpoint, as a crash would, and starts it again. */
  restart(options?: { awayMs?: number }): Promise<void>;
  /** Stops it and removes its data. */
  stop(): Promise<void>;
};

/** Starts a fresh cluster in a temporary folder on a free port, with the engine's tables. */
export async function startOwnPostgres(): Promise<OwnPostgres> {
  const folder = await makeThrowaway();
  const cluster = {
    folder: join(folder, "postgres"),
    password: "throwaway",
    settings: { max_connections: "60" },
  };
  await createCluster(cluster);
  const { port } = await startCluster(cluster);
  const { hostname: host, username: user, password } = new URL(clusterUrl(cluster, port, "postgres"));
  const connection = { host, port, user, password, database: "postgres" };
  const client = new Client(connection);
  await client.connect();
  await client.query(await readFile(ENGINE_MIGRATION, "utf8"));
  await client.end();

  return {
    connection,
    async restart({ awayMs = 0 } = {}) {
      await stopCluster(cluster.folder, { mode: "immediate" });
      await new Promise((resolve) => setTimeout(resolve, awayMs));
      const again = await startCluster(cluster, port);
      if (again.port !== port) throw new Error(`Port ${port} was taken meanwhile.`);
    },
    stop: () => removeThrowaway(folder),
  };
}
