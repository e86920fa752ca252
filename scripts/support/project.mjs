import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
/** The output of builds; never in the repository. */
export const DIST = join(ROOT, "dist");

/**
 * Prints progress.
 * @typedef {(line: string) => void} Print
 */

/** An error whose message is printed without a stack. */
export class SetupError extends Error {
  /** @override */
  name = "SetupError";
}

/**
 * A short hash of the contents of files and folders without tests. Missing ones count as empty.
 * @param {string[]} paths relative to the project's folder
 */
export function fingerprint(paths) {
  const hash = createHash("sha256");
  for (const path of paths) addTo(hash, path);
  return hash.digest("hex").slice(0, 16);
}

/** @param {import("node:crypto").Hash} hash @param {string} path */
function addTo(hash, path) {
  const absolute = join(ROOT, path);
  if (!existsSync(absolute)) return;
  const entries = listFolder(absolute);
  if (entries === undefined) {
    hash.update(`\0${path}\0`).update(readFileSync(absolute));
    return;
  }
  for (const name of entries) {
    if (/\.(test|spec)\.tsx?$/.test(name) || ["generated", "testing"].includes(name)) continue;
    addTo(hash, `${path}/${name}`);
  }
}

/**
 * @param {string} path
 * @returns {string[] | undefined} sorted names; undefined if it is not a folder
 */
function listFolder(path) {
  try {
    return readdirSync(path).sort();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOTDIR") return undefined;
    throw error;
  }
}

/**
 * Prints `label` and, if the work took a while, how long it took.
 * @template Result
 * @param {Print} print
 * @param {string} label
 * @param {() => Promise<Result>} work
 */
export async function timed(print, label, work) {
  print(`${label} …`);
  const start = Date.now();
  const result = await work();
  print(`  done in ${((Date.now() - start) / 1_000).toFixed(1)} s`);
  return result;
}
