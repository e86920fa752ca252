import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { countFiles } from "./count-files.mjs";
import { withLock } from "./lock.mjs";
import { DIST, ROOT, SetupError, timed } from "./project.mjs";
import { runProgram } from "./run-program.mjs";

/**
 * The facts about a package that package-lock.json and npm's own note of what it installed have in common.
 * @typedef {{ version?: string, link?: boolean, optional?: boolean, peer?: boolean, os?: string[], cpu?: string[], libc?: string[] }} Entry
 */

const MODULES = join(ROOT, "node_modules");
/** npm's own note of what it installed. */
const INSTALLED = join(MODULES, ".package-lock.json");
/** Ours: how many files each package had right after. */
const COUNTS = join(MODULES, ".stepwell-counts.json");

/**
 * Installs the packages of package-lock.json when some are missing, of another version, or lost files. Needs nothing but npm.
 * @param {import("./project.mjs").Say} say
 */
export async function ensureDependencies(say) {
  if (findFaults().length > 0) {
    mkdirSync(DIST, { recursive: true });
    const onWait = () => say("Another process is installing packages: waiting for it …");
    await withLock(join(DIST, "install.lock"), () => mend(say), { onWait });
  }
  noteCounts();
}

/** @param {import("./project.mjs").Say} say */
async function mend(say) {
  const faults = findFaults();
  if (faults.length === 0) return;
  // npm believes its own note: packages that were damaged behind its back are only mended without it.
  rmSync(INSTALLED, { force: true });
  for (const path of faults) rmSync(join(ROOT, path), { recursive: true, force: true });
  const first = !existsSync(MODULES);
  await timed(say, `Installing packages${first ? " (the first time takes a minute or two)" : ""}`, install);
  const left = findFaults();
  if (left.length > 0) {
    throw new SetupError(`npm did not install ${left.slice(0, 5).join(", ")}: try \`npm install\` by hand.`);
  }
}

/**
 * Does work that uses the packages. When one of their own files turns out to be missing (damage from before we first
 * counted), all packages are installed anew and the work is done again.
 * @template Result
 * @param {import("./project.mjs").Say} say
 * @param {() => Promise<Result>} work
 * @returns {Promise<Result>}
 */
export async function mendingPackages(say, work) {
  try {
    return await work();
  } catch (error) {
    const said = String(error);
    if (!/Cannot find (module|package)/.test(said) || !said.includes("node_modules")) throw error;
    say("A file of an installed package is missing: all are installed anew");
    rmSync(MODULES, { recursive: true, force: true });
    await ensureDependencies(say);
    return work();
  }
}

/** @returns {string[]} folders of packages that are missing or wrong; ["node_modules"] when nothing is installed */
function findFaults() {
  const wanted = readPackages(join(ROOT, "package-lock.json"));
  if (wanted === undefined) {
    throw new SetupError("package-lock.json is missing or damaged; restore it from the repository.");
  }
  const installed = readPackages(INSTALLED);
  if (installed === undefined) return ["node_modules"];
  const wrong = Object.entries(wanted)
    .filter(([path, entry]) => path !== "" && isMeantForHere(entry))
    .filter(([path, entry]) => installed[path]?.version !== entry.version || !existsSync(join(ROOT, path)))
    .map(([path]) => path);
  const counted = readCounts();
  const poorer = Object.entries(counted).filter(([path, count]) => countPackage(path) < count);
  return [...new Set([...wrong, ...poorer.map(([path]) => path)])];
}

/** Whatever is installed by hand later is taken as it is, and counted anew. */
function noteCounts() {
  if (Object.keys(readCounts()).length > 0) return;
  const paths = Object.keys(readPackages(INSTALLED) ?? {});
  const counts = Object.fromEntries(paths.map((path) => [path, countPackage(path)]));
  try {
    writeFileSync(COUNTS, JSON.stringify({ of: fingerprintInstalled(), counts }));
  } catch {
    // Installed by another user, who keeps the counts.
  }
}

/** @returns {Record<string, number>} empty when npm installed something since */
function readCounts() {
  try {
    const { of, counts } = JSON.parse(readFileSync(COUNTS, "utf8"));
    return of === fingerprintInstalled() ? counts : {};
  } catch {
    return {};
  }
}

function fingerprintInstalled() {
  return createHash("sha256").update(readFileSync(INSTALLED)).digest("hex");
}

/** @param {string} path */
function countPackage(path) {
  return countFiles(join(ROOT, path), (name) => name === "node_modules");
}

/** @param {Entry} entry */
function isMeantForHere({ os, cpu, libc, optional, peer }) {
  // npm leaves out optional packages as it sees fit; those for this very machine are the ones we use.
  if (optional || peer)
    return os !== undefined && libc === undefined && fits(os, process.platform) && fits(cpu, process.arch);
  return true;
}

/** @param {string[] | undefined} list @param {string} value */
function fits(list, value) {
  return list === undefined || list.includes(value);
}

/** @param {string} path @returns {Record<string, Entry> | undefined} */
function readPackages(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).packages;
  } catch {
    return undefined;
  }
}

async function install() {
  const parameters = ["install", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"];
  // Other versions of npm write the same lock file differently: it is only touched when package.json went ahead of it.
  if (isLockCurrent()) parameters.push("--no-save");
  // Under `npm start` npm names itself; started by hand, it is looked for.
  const self = process.env.npm_execpath;
  if (self?.endsWith(".js")) return runProgram("npm install", process.execPath, [self, ...parameters]);
  return runProgram("npm install", "npm", parameters);
}

function isLockCurrent() {
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const locked = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")).packages[""];
  return ["dependencies", "devDependencies"].every((kind) =>
    isDeepStrictEqual(manifest[kind] ?? {}, locked[kind] ?? {}),
  );
}
