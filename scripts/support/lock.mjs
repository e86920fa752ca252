import { linkSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { formatIdentity, isSameProcessAlive } from "./processes.mjs";
import { codeOf, readIfPresent } from "./project.mjs";

const RETRY_MS = 50;
/** The interval at which a waiting process reports that it still waits. */
const REPORT_EVERY_MS = 5_000;

/**
 * Does `work` while no other process does work under the same lock file. Takes over the lock of a dead process.
 * @template Result
 * @param {string} path of the lock file; its folder must exist
 * @param {() => Promise<Result>} work
 * @param {{ onWait?: (owner: string, seconds: number) => void }} [options] `onWait` is called when the waiting begins, and
 * every few seconds, with the owner's process id and how long it has lasted
 * @returns {Promise<Result>}
 */
export async function withLock(path, work, { onWait = () => {} } = {}) {
  const ticket = `${path}.${process.pid}`;
  const start = Date.now();
  let nextReport = start;
  writeFileSync(ticket, formatIdentity(), { mode: 0o600 });
  try {
    for (;;) {
      const owner = take(ticket, path);
      if (owner === undefined) break;
      if (owner === "") continue;
      if (Date.now() >= nextReport) {
        onWait(owner.trim().split(" ")[0] ?? "", Math.round((Date.now() - start) / 1_000));
        nextReport = Date.now() + REPORT_EVERY_MS;
      }
      await pause(RETRY_MS);
    }
  } finally {
    rmSync(ticket, { force: true });
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

/**
 * @param {string} ticket
 * @param {string} path
 * @returns {string | undefined} the owner of the lock, "" if it has none any more; undefined if it is now ours
 */
function take(ticket, path) {
  try {
    linkSync(ticket, path); // Unlike a write, a link appears completely or not at all.
    return undefined;
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
  const owner = readIfPresent(path);
  if (owner === undefined || isSameProcessAlive(owner)) return owner ?? "";
  // Moved away and checked again, because two processes may find the same dead owner: only one removes its lock. A lock
  // taken in the meantime is put back.
  const aside = `${ticket}.stale`;
  try {
    renameSync(path, aside);
    if (readIfPresent(aside) !== owner) linkSync(aside, path);
    rmSync(aside, { force: true });
  } catch {
    // Another process was faster: the next round checks again.
  }
  return "";
}
