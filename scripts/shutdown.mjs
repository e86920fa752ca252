/**
 * The end of one of our commands: Ctrl-C and SIGTERM first put in order what was begun, in reverse, then the process ends.
 * A signal that comes later than a second after the first ends it at once.
 */

/** People read it as it stands, also once the service sends what is printed to its log. */
const printError = console.error;

/** @type {(() => unknown)[]} */
const callbacks = [];
let ending = false;
/** When the first signal came: npm passes on what the terminal has sent us already. */
let signalledAt = 0;
/** Whether the end is the usual one (a server was asked to stop) and no interruption of unfinished work. */
let signalExpected = false;

/**
 * Adds something that has to be put in order before the process ends.
 * @param {() => unknown} callback
 */
export function onShutdown(callback) {
  callbacks.push(callback);
}

/** Whether the process is ending; what fails from then on is no news. */
export function isShuttingDown() {
  return ending;
}

/** From now on a signal is the usual way to end, with exit code 0. */
export function expectSignal() {
  signalExpected = true;
}

/**
 * Puts everything in order and ends the process.
 * @param {number} code
 * @returns {Promise<never>}
 */
export async function end(code) {
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
 * Runs a command from its first line to its last: an error is said, and everything put in order.
 * @param {() => Promise<number | undefined>} command the exit code, or undefined to stay until a signal
 */
export async function runCommand(command) {
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.on(signal, () => {
      const code = signal === "SIGINT" ? 130 : 143;
      if (ending && Date.now() - signalledAt > 1_000) process.exit(code);
      signalledAt ||= Date.now();
      void end(signalExpected ? 0 : code);
    });
  }
  try {
    const code = await command();
    if (code !== undefined) await end(code);
  } catch (error) {
    if (!ending) printError(explain(error));
    await end(1);
  }
}

/** People's errors are said as they are; faults with their stack. @param {unknown} error */
function explain(error) {
  if (!(error instanceof Error)) return String(error);
  const expected = [
    "SetupError",
    "EnvironmentError",
    "MigrationError",
    "WrongSecretError",
    "UnreachableDatabaseError",
  ];
  return expected.includes(error.name) ? `\n${error.message}` : `\n${error.stack}`;
}
