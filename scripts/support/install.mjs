import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { withLock } from "./lock.mjs";
import { DIST, ROOT, reportWait, SetupError, timed } from "./project.mjs";
import { runProgram } from "./run-program.mjs";

/**
 * The facts that package-lock.json and npm's record of installed packages have in common.
 * @typedef {{ version?: string, optional?: boolean, peer?: boolean, os?: string[], cpu?: string[], libc?: string[] }}
 * Entry
 */

const MAX_ERROR_LINES = 12;

/** Installs the packages of package-lock.json if some are missing or have another version. Needs only npm. */
export async function ensureDependencies() {
  if (findMissing().length === 0) return;
  mkdirSync(DIST, { recursive: true });
  const onWait = reportWait(() => "Another process is installing packages");
  await withLock(join(DIST, "install.lock"), installMissing, { onWait });
}

async function installMissing() {
  if (findMissing().length === 0) return;
  await timed("Installing packages", install);
  const missing = findMissing();
  if (missing.length === 0) return;
  throw new SetupError(`npm did not install ${missing.slice(0, 5).join(", ")}. Run \`npm install\` by hand.`);
}

/** @returns {string[]} folders of packages that are missing or have another version */
function findMissing() {
  const wanted = readPackages(join(ROOT, "package-lock.json"));
  if (wanted === undefined) {
    throw new SetupError("package-lock.json is missing or damaged; restore it from the repository.");
  }
  const installed = readPackages(join(ROOT, "node_modules/.package-lock.json")) ?? {};
  return Object.entries(wanted)
    .filter(([path, entry]) => path !== "" && isMeantForHere(entry))
    .filter(([path, entry]) => installed[path]?.version !== entry.version)
    .map(([path]) => path);
}

/** @param {Entry} entry */
function isMeantForHere({ os, cpu, libc, optional, peer }) {
  // npm may omit optional packages; those for this machine are needed.
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
  // Versions of npm write the same lock file differently, so npm must not write it.
  const parameters = ["install", "--include=dev", "--no-save", "--no-audit", "--no-fund"];
  // Under `npm start` npm passes its own path.
  const self = process.env.npm_execpath;
  const [command, first] = self?.endsWith(".js") ? [process.execPath, [self]] : ["npm", []];
  await runProgram("npm install", [command, ...first, ...parameters], { explain: explainNpmError });
}

/**
 * npm's error without its stack and prefixes.
 * @param {string} output
 */
export function explainNpmError(output) {
  const lines = output.split("\n").flatMap((line) => /^npm (?:error|ERR!) ?(.*)$/.exec(line)?.[1] ?? []);
  const facts = lines.filter((line) => line.trim() !== "" && !/^\s+at /.test(line));
  return facts.length === 0 ? output : facts.slice(0, MAX_ERROR_LINES).join("\n");
}
