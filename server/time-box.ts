import { Script } from "node:vm";

/** Synchronous work was interrupted because its time was up. */
export class TimeBoxError extends Error {
  override name = "TimeBoxError";
}

const globals: { stepwellTimeBox?: (() => void) | undefined } & typeof globalThis = globalThis;
const invoke = new Script("globalThis.stepwellTimeBox()", { filename: "time-box" });

/** Whether node:vm interrupted a script; the error may come from another realm, so its class says nothing. */
export function isTimeout(error: unknown): boolean {
  return (
    typeof error === "object" &&
    error !== null &&
    "code" in error &&
    error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT"
  );
}

/**
 * Runs synchronous work and interrupts it after `timeoutMs`, even inside one catastrophic regular expression.
 * For pure work only: what is interrupted stops anywhere. Costs some 0.1 ms a call. Throws TimeBoxError, or
 * whatever the work throws.
 */
export function runTimeBoxed<Result>(timeoutMs: number, work: () => Result): Result {
  const outer = globals.stepwellTimeBox;
  let result: { value: Result } | undefined;
  globals.stepwellTimeBox = () => {
    result = { value: work() };
  };
  try {
    invoke.runInThisContext({ timeout: timeoutMs });
  } catch (error) {
    if (isTimeout(error)) {
      throw new TimeBoxError(`Stopped after ${timeoutMs} ms.`);
    }
    throw error;
  } finally {
    globals.stepwellTimeBox = outer;
  }
  if (result === undefined) throw new TimeBoxError(`Stopped after ${timeoutMs} ms.`);
  return result.value;
}
