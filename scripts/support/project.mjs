import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { userInfo } from "node:os";
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

/** The interval at which a long part of a start reports that it goes on. */
const PROGRESS_EVERY_MS = 5_000;

/**
 * Prints `label`, every few seconds how long the work has taken so far, and how long it took.
 * @template Result
 * @param {string} label
 * @param {() => Promise<Result>} work
 */
export async function timed(label, work) {
  printProgress(`${label} …`);
  const start = Date.now();
  const timer = setInterval(() => {
    printProgress(`  ${Math.round((Date.now() - start) / 1_000)} s`);
  }, PROGRESS_EVERY_MS);
  try {
    const result = await work();
    printProgress(`  done in ${((Date.now() - start) / 1_000).toFixed(1)} s`);
    return result;
  } finally {
    clearInterval(timer);
  }
}

/**
 * Reports that this process waits for another one, for `withLock`.
 * @param {(owner: string) => string} describe what the other process does
 * @returns {(owner: string, seconds: number) => void}
 */
export function reportWait(describe) {
  let isFirst = true;
  return (owner, seconds) => {
    printProgress(isFirst ? `${describe(owner)}; waiting …` : `  waiting, ${seconds} s`);
    isFirst = false;
  };
}

/**
 * The message of an error of the file system in the project's folder; undefined for other errors.
 * @param {unknown} error
 */
export function explainUnwritable(error) {
  const code = codeOf(error) ?? "";
  if (!["EACCES", "EPERM", "EROFS"].includes(code) || !(error instanceof Error) || !("path" in error))
    return undefined;
  const path = String(error.path);
  return path.startsWith(`${ROOT}/`) ? describeUnwritable(path) : undefined;
}

/** @param {string} path */
function describeUnwritable(path) {
  const name = userName();
  return (
    `${path} cannot be written by the user ${name}: npm start installs and builds in its own folder. ` +
    `Give the folder to that user (sudo chown -R ${name} ${ROOT}), or clone it again as that user.`
  );
}

/** In a container, the user may have no name. */
function userName() {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.());
  }
}
