import { readFileSync } from "node:fs";

/**
 * A process that a file can name: its id, and when it began (empty where the system does not tell), so that
 * another process that later gets the same id is not taken for it.
 * @typedef {{ pid: number, began: string }} ProcessIdentity
 */

/**
 * Whether a process with this id exists, whoever owns it.
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
 * The mark of a living process.
 * @param {number} [pid] this process when left out
 * @returns {ProcessIdentity}
 */
export function identify(pid = process.pid) {
  return { pid, began: beganAt(pid) };
}

/** The mark as text, for a file. */
export function formatIdentity(mark = identify()) {
  return `${mark.pid} ${mark.began}\n`;
}

/**
 * Whether the process that left `text` (see `formatIdentity`) still runs.
 * @param {string} text
 */
export function isSameProcessAlive(text) {
  const [pid = "", began = ""] = text.trim().split(" ");
  if (!isAlive(Number(pid))) return false;
  return began === "" || beganAt(Number(pid)) === began;
}

/** @param {number} pid the clock tick in which it began, from Linux's /proc; "" elsewhere */
function beganAt(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold anything; the fields after it are numbers, the 22nd of all is the start.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
}
