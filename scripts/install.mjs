import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { ROOT, SetupError, timed } from "./project.mjs";
import { runProgram } from "./run-program.mjs";

/**
 * The facts about a package that package-lock.json and npm's own note of what it installed have in common.
 * @typedef {{ version?: string, link?: boolean, optional?: boolean, peer?: boolean, os?: string[], cpu?: string[], libc?: string[] }} Entry
 */

const MODULES = join(ROOT, "node_modules");
const INSTALLED = join(MODULES, ".package-lock.json");

/**
 * Installs the packages of package-lock.json when some are missing or of another version. Needs nothing but npm.
 * @param {import("./project.mjs").Say} say
 */
export async function ensureDependencies(say) {
  const before = findFaults();
  if (before.length === 0) return;
  // npm believes its own note: packages that were damaged behind its back are only mended without it.
  rmSync(INSTALLED, { force: true });
  for (const path of before) rmSync(join(ROOT, path), { recursive: true, force: true });
  await timed(
    say,
    existsSync(MODULES)
      ? "Installing packages"
      : "Installing packages (the first time takes a minute or two)",
    install,
  );
  const after = findFaults();
  if (after.length > 0) {
    throw new SetupError(`npm did not install ${after.slice(0, 5).join(", ")}: try \`npm install\` by hand.`);
  }
}

/**
 * Removes what is installed, so that the next `ensureDependencies` begins anew; for damage that only shows in use.
 * @param {import("./project.mjs").Say} say
 */
export async function reinstallDependencies(say) {
  say("Some installed packages are damaged: installing them anew");
  rmSync(MODULES, { recursive: true, force: true });
  await ensureDependencies(say);
}

/** @returns {string[]} folders of packages that are missing or wrong; ["node_modules"] when nothing is installed */
function findFaults() {
  const wanted = readPackages(join(ROOT, "package-lock.json"));
  if (wanted === undefined)
    throw new SetupError("package-lock.json is missing or damaged; restore it from the repository.");
  const installed = readPackages(INSTALLED);
  if (installed === undefined) return ["node_modules"];
  return Object.entries(wanted)
    .filter(([path, entry]) => path !== "" && isMeantForHere(entry))
    .filter(
      ([path, entry]) =>
        installed[path]?.version !== entry.version || !existsSync(join(ROOT, path, "package.json")),
    )
    .map(([path]) => path);
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
