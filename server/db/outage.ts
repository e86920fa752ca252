/**
 * Telling a database that is away for a moment from a statement that is wrong.
 */

// PostgreSQL error classes and codes after which the same transaction may be tried again as it is: connection
// exceptions, a transaction that fell asleep, serialization failures and deadlocks, too many connections, locks not
// got, a statement that ran out of time, shutdown and start-up.
// Prisma says the same in its own codes.
const AGAIN = /^(P10(01|02|08|17)|P2024|08...|25P03|40001|40P01|53300|55P03|57014|57P0[123])$/;
const NETWORK = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
]);
/** How Prisma tells of PostgreSQL's codes that it has no own code for. */
const PRISMA = /(?:Database error|Raw query failed)\. Code: `(\w{5})`/;
// node-postgres gives these no code.
const MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

/** Whether trying again, unchanged, can help. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.some(isTransient);
  const own = "code" in error && typeof error.code === "string" ? error.code : "";
  const code = PRISMA.exec(error.message)?.[1] ?? own;
  return AGAIN.test(code) || NETWORK.has(code) || MESSAGES.test(error.message);
}

/**
 * Does `work` until it succeeds, as long as it only meets passing faults and `signal` is not aborted. An outage of the
 * database must not cost the result of a step that has already run.
 * @param work must be safe to repeat after a commit whose confirmation was lost.
 * @throws whatever `work` throws that is not passing, or its last passing fault once `signal` is aborted.
 */
export async function retryWhileUnavailable<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let delay = 50; ; delay = Math.min(delay * 2, 1_000)) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || signal.aborted) throw error;
      await sleep(delay, signal);
    }
  }
}

/** Waits for `ms` milliseconds, or until `signal` is aborted. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}
