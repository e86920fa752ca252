import { explainUnwritable } from "./project.mjs";

/**
 * Ends a command: Ctrl-C and SIGTERM first run the shutdown callbacks, in reverse order. A signal more than a second
 * after the first ends the process immediately.
 */

/** Printed directly, also once the service sends console output to its log. */
const printError = console.error;

/** @type {(() => unknown)[]} */
const callbacks = [];
let ending = false;
/** The time of the first signal: npm passes on signals that the terminal has already sent. */
let signalledAt = 0;
let signalExpected = false;

/**
 * Adds a callback to run before the process ends.
 * @param {() => unknown} callback
 */
export function onShutdown(callback) {
  callbacks.push(callback);
}

/** Returns true if the process is shutting down; later errors are not reported. */
export function isShuttingDown() {
  return ending;
}

/** From now on a signal ends the process with exit code 0. */
export function expectSignal() {
  signalExpected = true;
}

/**
 * @param {number} code
 * @returns {Promise<never>}
 */
async function endProcess(code) {
  if (ending) return new Promise(() => {});
  ending = true;
  for (const callback of callbacks.reverse()) {
    try {
      await callback();
    } catch (error) {
      printError(error instanceof Error ? error.message : error);
      code ||= 1;
    }
  }
  process.exit(code);
}

/**
 * Runs a command. Prints its error, and shuts down.
 * @param {() => Promise<number | undefined>} command the exit code, or undefined to stay until a signal
 */
export async function runCommand(command) {
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.on(signal, () => {
      const code = signal === "SIGINT" ? 130 : 143;
      if (ending && Date.now() - signalledAt > 1_000) process.exit(code);
      signalledAt ||= Date.now();
      void endProcess(signalExpected ? 0 : code);
    });
  }
  try {
    const code = await command();
    if (code === undefined) return;
    await Promise.all([process.stdout, process.stderr].map(untilWritten));
    await endProcess(code);
  } catch (error) {
    if (!ending) printError(explain(error));
    await endProcess(1);
  }
}

/**
 * `process.exit` drops what a pipe has not taken yet: all but the first 64 KiB.
 * @param {NodeJS.WriteStream} stream
 * @returns {Promise<void>}
 */
function untilWritten(stream) {
  return new Promise((resolve) => {
    // An error means that the reader is gone.
    stream.write("", () => resolve());
  });
}

/** @param {unknown} error */
function explain(error) {
  if (!(error instanceof Error)) return String(error);
  const unwritable = explainUnwritable(error);
  if (unwritable !== undefined) return `\n${unwritable}`;
  return ["SetupError", "StartError"].includes(error.name) ? `\n${error.message}` : `\n${error.stack}`;
}
