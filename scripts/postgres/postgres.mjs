import { randomBytes } from "node:crypto";
import {
  accessSync,
  chownSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { withLock } from "../support/lock.mjs";
import { isInUse, markInUse } from "../support/processes.mjs";
import { printProgress, reportWait, SetupError } from "../support/project.mjs";
import { clusterDirectory } from "./postgres-account.mjs";
import {
  clusterUrl,
  createCluster,
  resetPassword,
  runningCluster,
  startCluster,
  stopCluster,
} from "./postgres-cluster.mjs";

/**
 * The embedded PostgreSQL of a data folder, shared by all Stepwell processes that use the folder. The first one starts it,
 * the last one stops it. If a process is killed, its server keeps running, and the next process takes it over.
 *
 *   postgres/          PostgreSQL's data directory (elsewhere if its account cannot reach the data folder)
 *   postgres.json      its location, password and last port; readable by this user only
 *   postgres.lock      held while it is started or stopped
 *   postgres.in-use/   one file for every process that uses it
 */

const DATABASE = "stepwell";

/**
 * Creates and starts the data folder's PostgreSQL if needed, and records this process as its user.
 * @param {string} dataDir created if missing
 * @param {{ create?: (cluster: import("./postgres-cluster.mjs").Cluster) => Promise<void> }} [options] `create` creates
 * the cluster's files if there are none
 * @returns {Promise<{ url: string, cluster: string, elsewhere: boolean, leave: () => Promise<void> }>} the database's
 * URL, where the data are, and whether that is outside the data folder; call `leave` before the process ends
 */
export async function joinPostgres(dataDir, { create = createCluster } = {}) {
  createDataFolder(dataDir);
  const root = realpathSync(dataDir);
  const paths = {
    record: join(root, "postgres.json"),
    lock: join(root, "postgres.lock"),
    inUse: join(root, "postgres.in-use"),
  };
  const onWait = reportWait((owner) => `Process ${owner} is starting or stopping the database`);
  return withLock(
    paths.lock,
    async () => {
      const known = readRecord(paths.record);
      const record = known ?? newRecord(root);
      const cluster = { folder: record.elsewhere ?? join(root, "postgres"), password: record.password };
      const release = markInUse(paths.inUse);
      chownToOwner(paths.inUse);
      const leave = async () => {
        release();
        if (!isInUse(paths.inUse)) await stopCluster(cluster.folder);
      };
      try {
        if (!known && existsSync(join(cluster.folder, "PG_VERSION"))) await resetPassword(cluster);
        await create(cluster);
        // Written only now: in a record without its cluster the password would be wrong.
        if (!known) writePrivately(paths.record, JSON.stringify(record));
        const { port } = await startCluster(cluster, record.port);
        if (port !== record.port) writePrivately(paths.record, JSON.stringify({ ...record, port }));
        await ensureDatabase(clusterUrl(cluster, port, "postgres"));
        return {
          url: clusterUrl(cluster, port, DATABASE),
          cluster: cluster.folder,
          elsewhere: record.elsewhere !== undefined,
          leave: () => withLock(paths.lock, leave),
        };
      } catch (error) {
        await leave().catch(() => {});
        throw error;
      }
    },
    { onWait },
  );
}

/**
 * Returns true if the data folder has a PostgreSQL, running or not.
 * @param {string} dataDir
 */
export const hasPostgres = (dataDir) =>
  existsSync(join(dataDir, "postgres.json")) || existsSync(join(dataDir, "postgres", "PG_VERSION"));

/**
 * Restarts the data folder's PostgreSQL whenever it was killed, for a process that needs it.
 * @param {string} dataDir
 * @param {{ url: string, cluster: string }} joined the result of `joinPostgres`
 * @param {{ print?: (line: string) => void, everyMs?: number }} [options] `everyMs`: how often it is checked
 * @returns {() => Promise<void>} stops watching; call it before leaving
 */
export function watchPostgres(dataDir, { url, cluster }, { print = printProgress, everyMs = 2_000 } = {}) {
  /** @type {Promise<void> | undefined} */
  let restarting;
  const restart = async () => {
    try {
      const again = await joinPostgres(dataDir);
      print(
        again.url === url
          ? "The database was killed and has been started again."
          : "The database was killed and now has another port. Restart this process.",
      );
    } catch (error) {
      print(
        `The database has ended. Could not restart it: ${error instanceof Error ? error.message : error}`,
      );
    }
  };
  const timer = setInterval(() => {
    if (restarting !== undefined || runningCluster(cluster)) return;
    restarting = restart().finally(() => {
      restarting = undefined;
    });
  }, everyMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await restarting;
  };
}

/** @param {string} dataDir */
function createDataFolder(dataDir) {
  try {
    createFolders(dataDir);
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const text = `The data folder ${dataDir} is not writable. Set STEPWELL_DATA_DIR to another folder.`;
    throw new SetupError(text, { cause });
  }
}

/**
 * One by one: if nothing can be created, as below /proc, Node's own recursion never ends.
 * @param {string} folder
 */
function createFolders(folder) {
  if (existsSync(folder)) return;
  createFolders(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    if (!existsSync(folder)) throw error; // Otherwise another process was faster.
  }
}

/**
 * initdb creates `postgres` only; ours is separate, so that it can be dropped.
 * @param {string} adminUrl
 */
async function ensureDatabase(adminUrl) {
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  } finally {
    await client.end();
  }
}

/**
 * `elsewhere` is set if the cluster is outside the data folder.
 * @typedef {{ elsewhere?: string, password: string, port?: number }} Placement
 */

/** @param {string} root @returns {Placement} */
function newRecord(root) {
  const inside = join(root, "postgres");
  const folder = clusterDirectory(inside, randomBytes(6).toString("hex"));
  const password = randomBytes(24).toString("base64url");
  return folder === inside ? { password } : { password, elsewhere: folder };
}

/** @param {string} path @returns {Placement | undefined} */
function readRecord(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined; // Missing or damaged: the cluster gets a new password.
  }
}

/**
 * Writes a file that only the owner of its folder can read. It appears completely or not at all.
 * @param {string} path
 * @param {string} text
 */
export function writePrivately(path, text) {
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, `${text}\n`, { mode: 0o600 });
  chownToOwner(fresh);
  renameSync(fresh, path);
}

/**
 * Gives a path that root created in another user's data folder to that user.
 * @param {string} path
 */
function chownToOwner(path) {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  chownSync(path, uid, gid);
}
