import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf, readIfPresent } from "./project.mjs";

/**
 * Returns true if a process with this id exists.
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
 * is empty if the system does not report it.
 */
export function formatIdentity() {
  return `${process.pid} ${beganAt(process.pid)}\n`;
}

/**
 * Returns true if the process that wrote `text` (see `formatIdentity`) still runs.
 * @param {string} text
 */
export function isSameProcessAlive(text) {
  const [pid = "", began = ""] = text.trim().split(" ");
  if (!isAlive(Number(pid))) return false;
  return began === "" || beganAt(Number(pid)) === began;
}

/** @param {number} pid the clock tick at which it started; "" elsewhere than on Linux */
const beganAt = (pid) => statOf(pid)[19] ?? "";

/**
 * The fields of Linux's /proc/PID/stat after the name in parentheses, which may contain anything.
 * @param {number} pid
 */
export function statOf(pid) {
  const stat = readIfPresent(`/proc/${pid}/stat`) ?? "";
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/**
 * Records in `folder` that this process uses a resource.
 * @param {string} folder created if missing
 * @returns {() => void} removes the record
 */
export function markInUse(folder) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const record = join(folder, String(process.pid));
  writeFileSync(record, formatIdentity(), { mode: 0o600 });
  return () => rmSync(record, { force: true });
}

/**
 * Returns true if a living process is recorded in the folder; records of dead ones are removed.
 * @param {string} folder
 */
export function isInUse(folder) {
  if (!existsSync(folder)) return false;
  let held = false;
  for (const name of readdirSync(folder)) {
    const record = join(folder, name);
    if (isSameProcessAlive(readIfPresent(record) ?? "")) held = true;
    else rmSync(record, { force: true });
  }
  return held;
}
