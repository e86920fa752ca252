import { codeOf, readIfPresent } from "./project.mjs";

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
    return codeOf(error) === "EPERM";
  }
}

/**
 * Identifies this process in a file by its id and its start time, because a later process may get the same id. The time
 * is empty if the system does not tell it.
 */
export function formatIdentity() {
  return `${process.pid} ${beganAt(process.pid)}\n`;
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
  // The name in parentheses may contain anything. The fields after it are numbers; the 22nd of all is the start.
  const stat = readIfPresent(`/proc/${pid}/stat`) ?? "";
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}
