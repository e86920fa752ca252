import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
/** The output of builds; never in the repository. */
export const DIST = join(ROOT, "dist");

/** Standard output has only results. Kept here, because a service sends its console's output to its log. */
export const printProgress = console.error;

/** An error whose message is printed without a stack. */
export class SetupError extends Error {
  /** @override */
  name = "SetupError";
}

/**
 * The system's code of an error, such as ENOENT.
 * @param {unknown} error
 */
export function codeOf(error) {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}

/**
 * The text of a file; undefined if it cannot be read.
 * @param {string} path
 */
export function readIfPresent(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
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
  const found = statSync(absolute, { throwIfNoEntry: false });
  if (found?.isFile()) hash.update(`\0${path}\0`).update(readFileSync(absolute));
  if (!found?.isDirectory()) return;
  for (const name of readdirSync(absolute).sort()) {
    if (/\.(test|spec)\.tsx?$/.test(name) || ["generated", "testing"].includes(name)) continue;
    addTo(hash, `${path}/${name}`);
  }
}

/**
 * Prints `label`, and how long the work took.
 * @template Result
 * @param {string} label
 * @param {() => Promise<Result>} work
 */
export async function timed(label, work) {
  printProgress(`${label} …`);
  const start = Date.now();
  const result = await work();
  printProgress(`  done in ${((Date.now() - start) / 1_000).toFixed(1)} s`);
  return result;
}
