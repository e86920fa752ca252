import { readFileSync } from "node:fs";

/**
 * Identifies a process in a file by its id and its start time, because a later process may get the same id. The time is
 * empty if the system does not tell it.
 * @typedef {{ pid: number, began: string }} ProcessIdentity
 */

/**
 * Whether a process with this id exists.
 * @param {number} pid
 */
export function isAlive(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/**
 * The identity of a living process.
 * @param {number} [pid] default: this process
 * @returns {ProcessIdentity}
 */
export function identify(pid = process.pid) {
  return { pid, began: beganAt(pid) };
}

export function formatIdentity(mark = identify()) {
  return `${mark.pid} ${mark.began}\n`;
}

/**
 * Whether the process that wrote `text` (see `formatIdentity`) still runs.
 * @param {string} text
 */
export function isSameProcessAlive(text) {
  const [pid = "", began = ""] = text.trim().split(" ");
  if (!isAlive(Number(pid))) return false;
  return began === "" || beganAt(Number(pid)) === began;
}

/** @param {number} pid the clock tick at which it started, from Linux's /proc; "" elsewhere */
function beganAt(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may contain anything. The fields after it are numbers; the 22nd of all is the start.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
}
