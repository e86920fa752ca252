import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatIdentity, isSameProcessAlive } from "./processes.mjs";

/**
 * Notes in `folder` that this process uses what the folder stands for.
 * @param {string} folder made when missing
 * @returns {() => void} takes the note back
 */
export function markInUse(folder) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const note = join(folder, String(process.pid));
  writeFileSync(note, formatIdentity(), { mode: 0o600 });
  return () => rmSync(note, { force: true });
}

/**
 * Whether a living process has its note in the folder; notes of dead ones are removed.
 * @param {string} folder
 */
export function isInUse(folder) {
  if (!existsSync(folder)) return false;
  let held = false;
  for (const name of readdirSync(folder)) {
    const note = join(folder, name);
    if (isSameProcessAlive(read(note))) held = true;
    else rmSync(note, { force: true });
  }
  return held;
}

/** @param {string} path */
function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // Taken back at this very moment.
  }
}
