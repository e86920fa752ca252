import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatIdentity, isSameProcessAlive } from "./processes.mjs";
import { readIfPresent } from "./project.mjs";

/**
 * Records in `folder` that this process uses a resource.
 * @param {string} folder created if missing
 * @returns {() => void} removes the record
 */
export function markInUse(folder) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const note = join(folder, String(process.pid));
  writeFileSync(note, formatIdentity(), { mode: 0o600 });
  return () => rmSync(note, { force: true });
}

/**
 * Whether a living process is recorded in the folder; records of dead ones are removed.
 * @param {string} folder
 */
export function isInUse(folder) {
  if (!existsSync(folder)) return false;
  let held = false;
  for (const name of readdirSync(folder)) {
    const note = join(folder, name);
    if (isSameProcessAlive(readIfPresent(note) ?? "")) held = true;
    else rmSync(note, { force: true });
  }
  return held;
}
