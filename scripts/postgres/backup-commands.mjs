import { resolve } from "node:path";
import { dataFolder, provideDatabase } from "../environment.mjs";
import { SetupError } from "../support/project.mjs";
import { onShutdown } from "../support/shutdown.mjs";
import { backUp } from "./backup.mjs";
import { restore } from "./restore.mjs";

/** `stepwell backup DIR` and `stepwell restore DIR`: they need no build, and `restore` no database. */

const MIB = 1024 * 1024;

/**
 * Runs one of the two commands; undefined if the words are another one.
 * @param {readonly string[]} words
 * @returns {Promise<number> | undefined} the exit code
 */
export function runBackupCommand([command, folder, ...rest]) {
  if (command !== "backup" && command !== "restore") return undefined;
  if (folder === undefined || folder.startsWith("-") || rest.length > 0) {
    console.error(`Usage: npm run -s stepwell -- ${command} DIR`);
    return Promise.resolve(2);
  }
  if (process.env.DATABASE_URL) {
    throw new SetupError(
      "DATABASE_URL is set: back its database up with PostgreSQL's programs (docs/operating.md). " +
        `\`${command}\` is for the embedded database.`,
    );
  }
  // npm runs scripts in the project's folder; INIT_CWD is where the person typed the command.
  const path = resolve(process.env.INIT_CWD ?? ".", folder);
  return command === "backup" ? runBackup(path) : runRestore(path);
}

/** @param {string} target */
async function runBackup(target) {
  const joined = await provideDatabase();
  if (joined === undefined) return 1;
  const secret = process.env.STEPWELL_SECRET ?? "";
  const ending = new AbortController();
  const copying = backUp(target, { ...joined, secret, signal: ending.signal });
  onShutdown(() => {
    ending.abort();
    return copying.catch(() => {});
  });
  const { files, createdAt, rows } = await copying;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  console.log(
    `Backed up to ${target}: ${Math.ceil(bytes / MIB)} MiB, ${rows.runs ?? 0} runs, state of ${createdAt}.`,
  );
  console.error(
    `${target}/secret is the key of every secret in this backup. Protect the folder as you protect a password.`,
  );
  return 0;
}

/** @param {string} source */
async function runRestore(source) {
  console.log((await restore(source, dataFolder())).join("\n"));
  return 0;
}
