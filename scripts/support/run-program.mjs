import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants, setPriority } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { codeOf, ROOT, SetupError } from "./project.mjs";
import { isShuttingDown, onShutdown } from "./shutdown.mjs";

/**
 * @typedef {object} ProgramOptions
 * @property {Record<string, string | undefined>} [env] set beside the environment of this process
 * @property {boolean} [loud] passes its output on
 * @property {boolean} [background] uses only what other programs leave of the processors
 * @property {(output: string) => string} [explain] picks from its output what people see when it fails
 */

/** The time in which an interrupted program must end: Playwright first stops the service. */
const GRACE_MS = 25_000;
const MAX_OUTPUT = 1_000_000;

/**
 * Runs a Node program of the project to its end. Its output is shown only if it fails.
 * @param {string} name for messages
 * @param {[script: string, ...parameters: string[]]} command `script` is relative to the project's folder
 * @param {ProgramOptions} [options]
 * @returns {Promise<void>}
 */
export function runNode(name, command, options) {
  return runProgram(name, [process.execPath, ...command], options);
}

/**
 * Runs any program to its end; see `runNode`. If this process ends first, the program and its children end, too.
 * @param {string} name
 * @param {[program: string, ...parameters: string[]]} command
 * @param {ProgramOptions} [options]
 * @returns {Promise<void>}
 */
export async function runProgram(name, [program, ...parameters], options = {}) {
  const { env = {}, loud = false, background = false, explain = (output) => output } = options;
  const child = spawn(program, parameters, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ["ignore", loud ? "inherit" : "pipe", loud ? "inherit" : "pipe"],
    // In its own process group, the program gets a signal once, from us, followed by all its children.
    detached: process.platform !== "win32",
    shell: process.platform === "win32" && !program.endsWith(".exe"),
  });
  endWith(child);
  if (background && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (/** @type {string} */ chunk) => {
      output = (output + chunk).slice(-MAX_OUTPUT);
    });
  }
  const [code, signal] = await once(child, "close").catch((cause) => {
    throw new SetupError(`Could not run ${name}: ${cause instanceof Error ? cause.message : cause}`);
  });
  if (isShuttingDown()) await new Promise(() => {});
  if (code !== 0) {
    throw new SetupError(
      `${name} failed (${signal ?? `exit code ${code}`}).\n${explain(output).trim()}`.trim(),
    );
  }
}

/**
 * Interrupts the child's process group before this process ends, and kills what remains.
 * @param {import("node:child_process").ChildProcess} child
 */
function endWith(child) {
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const kill = () => signalGroup(child, "SIGKILL");
  process.once("exit", kill);
  child.once("close", () => process.off("exit", kill));
  onShutdown(async () => {
    if (!isRunning()) return;
    signalGroup(child, "SIGINT");
    const patience = new AbortController();
    await Promise.race([once(child, "exit"), pause(GRACE_MS, undefined, patience).catch(() => {})]);
    patience.abort();
    kill();
  });
}

/** @param {import("node:child_process").ChildProcess} child @param {NodeJS.Signals} signal */
function signalGroup(child, signal) {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch (error) {
    // The group is empty.
    if (codeOf(error) !== "ESRCH") throw error;
  }
}
