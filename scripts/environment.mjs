import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { hasPostgres, joinPostgres, watchPostgres, writePrivately } from "./postgres/postgres.mjs";
import { createCluster } from "./postgres/postgres-cluster.mjs";
import { tryPort } from "./support/ports.mjs";
import { printProgress, ROOT, SetupError } from "./support/project.mjs";
import { onShutdown } from "./support/shutdown.mjs";

/**
 * Reads the settings of `.env`, and checks those that decide where the database is; `env.ts` checks the others.
 * @param {{ hasDatabase?: boolean }} [options] false: checks none, for commands without a database
 */
export function readSettings({ hasDatabase = true } = {}) {
  const settings = process.env.STEPWELL_ENV_FILE ?? ".env";
  if (settings !== "" && existsSync(settings)) process.loadEnvFile(settings);
  if (!hasDatabase) return;
  const { DATABASE_URL = "", STEPWELL_SECRET = "" } = process.env;
  const dataDir = dataFolder();
  if (DATABASE_URL === "" && statSync(dataDir, { throwIfNoEntry: false })?.isDirectory() === false) {
    throw new SetupError(
      `The data folder ${dataDir} is a file. Set STEPWELL_DATA_DIR to a folder; it is created if it does not exist.`,
    );
  }
  if (DATABASE_URL !== "" && STEPWELL_SECRET === "") {
    throw new SetupError(
      "With DATABASE_URL set, STEPWELL_SECRET is required: it encrypts secrets in that database. " +
        "Set it to at least 32 random characters, for instance from `openssl rand -hex 32`, and keep a copy.",
    );
  }
}

/** Removes the settings described in .env.example and does not read `.env`, because tests bring their own configuration. */
export function clearSettings() {
  const described = readFileSync(join(ROOT, ".env.example"), "utf8").matchAll(/^([A-Z_]+)=/gm);
  for (const [, name = ""] of described) delete process.env[name];
  process.env.STEPWELL_ENV_FILE = "";
}

/** Fails if PORT is invalid or taken. */
export async function checkPort() {
  const text = process.env.PORT || "3000";
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new SetupError(`PORT must be a whole number from 0 to 65535, such as 3000; it is "${text}".`);
  const code = await tryPort(port, process.env.HOST || "0.0.0.0");
  if (code === undefined) return;
  if (code === "ENOTFOUND" || code === "EADDRNOTAVAIL") {
    throw new SetupError(`HOST is "${process.env.HOST}", which is not an address of this machine (${code}).`);
  }
  throw new SetupError(describePortError(port, code));
}

/**
 * The reason why a port cannot be listened on, and another one to take.
 * @param {number} port
 * @param {string} code the code of the system's error
 */
export function describePortError(port, code) {
  // Without root, all ports below 1024 need a permission: the next one would, too.
  const isPrivileged = code === "EACCES" && port < 1024;
  const why = {
    EADDRINUSE: "is taken by another process",
    EACCES: `needs permissions that this user does not have${isPrivileged ? ", as all ports below 1024" : ""}`,
  }[code];
  const other = port === 0 ? 3000 : isPrivileged ? 8000 + port : port + 1;
  const text = `Port ${port} ${why ?? `cannot be used (${code})`}. Choose another, for instance: PORT=${other} npm start.`;
  return isPrivileged
    ? `${text} A reverse proxy can serve it at the standard ports (docs/operating.md).`
    : text;
}

/**
 * Provides a database: the one of DATABASE_URL, or the embedded one, started if needed. Sets DATABASE_URL and
 * STEPWELL_SECRET in this process's environment, and STEPWELL_DEMO for the embedded one. The database is released when
 * the process ends. Returns the embedded one.
 */
export async function provideDatabase() {
  const dataDir = dataFolder();
  process.env.STEPWELL_DATA_DIR = dataDir;
  if (process.env.DATABASE_URL) return undefined;
  const joining = joinPostgres(dataDir, {
    async create(cluster) {
      const isNew = !existsSync(join(cluster.folder, "PG_VERSION"));
      process.env.STEPWELL_SECRET ||= readSecret(join(dataDir, "secret"), { mayCreate: isNew });
      await createCluster(cluster);
    },
  });
  onShutdown(async () => (await joining.catch(() => undefined))?.leave());
  const joined = await joining;
  onShutdown(watchPostgres(dataDir, joined));
  const { url, cluster, elsewhere } = joined;
  if (elsewhere) {
    const inside = relative(ROOT, dataDir);
    printProgress(
      `The database's files are in ${cluster}: PostgreSQL cannot run as root, and its account cannot reach ${inside.startsWith("..") ? dataDir : inside}.`,
    );
  }
  process.env.DATABASE_URL = url;
  process.env.STEPWELL_DEMO ||= "on";
  return joined;
}

/** Returns true if DATABASE_URL is set, or the embedded database was created by an earlier start. */
export const hasDatabase = () => Boolean(process.env.DATABASE_URL) || hasPostgres(dataFolder());

export const dataFolder = () => resolve(process.env.STEPWELL_DATA_DIR || ".data");

/**
 * Only a new database gets a new secret: what an existing one has encrypted would be lost with it.
 * @param {string} path
 * @param {{ mayCreate: boolean }} options
 */
function readSecret(path, { mayCreate }) {
  if (existsSync(path)) return readFileSync(path, "utf8").trim();
  if (!mayCreate) {
    throw new SetupError(
      `The secret of the database is missing: STEPWELL_SECRET is not set, and there is no file ${path}. ` +
        "Set STEPWELL_SECRET as for the service, or restore the file. If the secret is lost, put a new one there " +
        `(openssl rand -hex 32 > ${path}) and run \`service-secret adopt\`.`,
    );
  }
  const secret = randomBytes(32).toString("hex");
  writePrivately(path, secret);
  return secret;
}
