#!/bin/sh
// 2>/dev/null; exec node --max-semi-space-size=16 --heap-growing-percent=60 --no-memory-reducer "$0" "$@"
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/**
 * The program of the package: `stepwell start` runs the service, all other words are a command. The package is built and
 * complete: it needs no other package and no npm, and never writes in its own folder once it is linked. To the shell, the
 * second line starts Node with the flags of `npm start` (`env -S` is missing in Alpine); to Node, it is a comment.
 */

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const BUILD = join(ROOT, "dist/current");
/** Settings that are paths: relative to the folder of the caller. */
const PATHS = ["MODEL_PROVIDERS", "PRICE_LIST"];

// The first process of a container ignores signals that it does not handle.
const SIGNALS = /** @type {const} */ (["SIGINT", "SIGTERM"]);
for (const signal of SIGNALS) process.on(signal, end);

const [command] = process.argv.slice(2);
readSettings();
// Commands find the caller's files with it.
process.env.INIT_CWD = process.cwd();
process.chdir(ROOT);
try {
  link();
} catch (error) {
  const reason = error instanceof Error ? error.message : error;
  console.error(`Could not link the packages in ${ROOT}: ${reason}
Run this once as a user who may write in that folder: node ${join(ROOT, "bin/stepwell.mjs")} help`);
  process.exit(1);
}
Object.assign(process.env, { NODE_ENV: "production", STEPWELL_PACKAGE: "1" });
if (command === "start") await start();
else {
  process.setSourceMapsEnabled(true);
  await import(pathToFileURL(join(BUILD, "stepwell.mjs")).href);
}

/** @param {NodeJS.Signals} signal */
function end(signal) {
  process.exit(signal === "SIGINT" ? 130 : 143);
}

function readSettings() {
  const file = process.env.STEPWELL_ENV_FILE ?? ".env";
  if (file !== "" && existsSync(file)) process.loadEnvFile(file);
  for (const name of PATHS) {
    const path = process.env[name];
    if (path) process.env[name] = resolve(path);
  }
  process.env.STEPWELL_DATA_DIR = resolve(process.env.STEPWELL_DATA_DIR || ".data");
}

function link() {
  const links = JSON.parse(readFileSync(join(ROOT, "links.json"), "utf8"));
  for (const [path, target] of Object.entries(links)) {
    const absolute = join(ROOT, path);
    if (existsSync(absolute)) continue;
    mkdirSync(dirname(absolute), { recursive: true });
    symlinkSync(relative(dirname(absolute), join(ROOT, String(target))), absolute, "junction");
  }
}

async function start() {
  // The service sends console output to its log, which hides keys.
  const print = console.log;
  /** @type {typeof import("../../serve.ts")} */
  const { announce, checkSettings, serve, stopOnSignals } = await import(
    pathToFileURL(join(BUILD, "serve.mjs")).href
  );
  try {
    for (const warning of checkSettings()) print(warning);
    const serving = await serve({ root: ROOT, print });
    stopOnSignals(serving);
    for (const signal of SIGNALS) process.off(signal, end);
    if (await serving.untilReady(print)) announce(serving, print);
  } catch (error) {
    console.error(error instanceof Error && error.name === "StartError" ? error.message : error);
    process.exit(1);
  }
}
