import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatIdentity, isSameProcessAlive } from "../support/processes.mjs";
import { codeOf, readIfPresent } from "../support/project.mjs";
import { clusterUrl, createCluster, startCluster, stopCluster } from "./postgres-cluster.mjs";

/** Folders of tests, deleted at the end of their process or when the next one begins. */

const PREFIX = "stepwell-throwaway-";

/**
 * Creates a folder for this process, and deletes abandoned ones.
 * @returns {Promise<string>}
 */
export async function createThrowaway() {
  await removeAbandoned();
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  chmodSync(folder, 0o755); // PostgreSQL's account must pass through it.
  writeFileSync(join(folder, "owner"), formatIdentity());
  return folder;
}

/**
 * Starts a PostgreSQL cluster in a folder for this process.
 * @param {Record<string, string>} [settings] that differ from PostgreSQL's defaults
 */
export async function startThrowawayCluster(settings = {}) {
  const folder = await createThrowaway();
  const cluster = { folder: join(folder, "postgres"), password: "throwaway", settings };
  await createCluster(cluster);
  const { pid, port } = await startCluster(cluster);
  return { pid, url: clusterUrl(cluster, port, "postgres"), stop: () => removeThrowaway(folder) };
}

/** Deletes the folders of ended processes, and stops the databases that still run in them. */
export async function removeAbandoned() {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(PREFIX))) {
    const folder = join(tmpdir(), name);
    const owner = readIfPresent(join(folder, "owner"));
    if (owner !== undefined && !isSameProcessAlive(owner)) await removeThrowaway(folder);
  }
}

/**
 * Stops the database in the folder, if one runs (as its data directory or a service's), and deletes everything.
 * @param {string} folder
 */
export async function removeThrowaway(folder) {
  try {
    await stopCluster(join(folder, "postgres"), { mode: "immediate" });
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  } catch (error) {
    // Probably another user's, or still written to; a later run deletes it.
    if (!["EPERM", "EACCES", "ENOTEMPTY", "EBUSY"].includes(codeOf(error) ?? "")) throw error;
  }
}
