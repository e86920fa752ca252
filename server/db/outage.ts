import { sleep } from "@/server/sleep";

/** Separates temporary database errors from permanent ones. */

// PostgreSQL errors after which the same transaction may be retried. Lost or too many connections, shutdown and
// start-up; serialization failures and deadlocks; timeouts of locks, statements and idle transactions. P… are Prisma's
// codes for the same.
const AGAIN = /^(P10(01|02|08|17)|P2024|08...|25P03|40001|40P01|53300|55P03|57014|57P0[123])$/;
const NETWORK =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENOENT)$/;
/** How Prisma reports PostgreSQL errors for which it has no own code. */
const PRISMA = /(?:Database error|Raw query failed)\. Code: `(\w{5})`/;
// node-postgres gives these no code.
const MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

/** Whether the same operation may succeed if retried. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.some(isTransient);
  const code = PRISMA.exec(error.message)?.[1] ?? codeOf(error);
  return AGAIN.test(code) || NETWORK.test(code) || MESSAGES.test(error.message);
}

/** The code of an error of PostgreSQL or the network; empty without one. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/**
 * Repeats `work` until it succeeds, while its errors are temporary and `signal` is not aborted. A database outage must
 * not lose the result of a completed step.
 * @param work must be safe to repeat after a commit whose confirmation was lost.
 * @throws any permanent error of `work`, or its last temporary one once `signal` is aborted.
 */
export async function retryWhileUnavailable<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let delay = 50; ; delay = Math.min(delay * 2, 1_000)) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || signal?.aborted) throw error;
      await sleep(delay, signal);
    }
  }
}
