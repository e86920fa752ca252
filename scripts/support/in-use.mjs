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
  const record = join(folder, String(process.pid));
  writeFileSync(record, formatIdentity(), { mode: 0o600 });
  return () => rmSync(record, { force: true });
}

/**
 * Whether a living process is recorded in the folder; records of dead ones are removed.
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
