import { causesOf, codeOf } from "@/server/base/errors";
import { sleep } from "@/server/base/sleep";

// PostgreSQL errors after which the same transaction may be retried. P… are Prisma's codes for the same.
// Lost or too many connections, shutdown and start-up.
const UNAVAILABLE = /^(P10(01|02|08|17)|P2024|08...|53300|57P0[123])$/;
// Serialization failures and deadlocks; timeouts of locks, statements and idle transactions.
const CONTENTION = /^(25P03|40001|40P01|55P03|57014)$/;
const NETWORK =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENOENT)$/;
// Prisma's form of PostgreSQL errors for which it has no own code.
const PRISMA = /(?:Database error|Raw query failed)\. Code: `(\w{5})`/;
// node-postgres gives these no code.
const MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired$|Client has encountered a connection error)/;

/** Returns true if the same operation may succeed if retried. */
export const isTransient = (error: unknown): boolean =>
  isUnavailable(error) || hasMatch(error, (one) => CONTENTION.test(readCode(one)));

/** Returns true if there is no connection to the database, so that other operations fail as well. */
export const isUnavailable = (error: unknown): boolean =>
  hasMatch(error, (one) => {
    const code = readCode(one);
    return UNAVAILABLE.test(code) || NETWORK.test(code) || MESSAGES.test(one.message);
  });

const readCode = (error: Error) => PRISMA.exec(error.message)?.[1] ?? codeOf(error);

function hasMatch(error: unknown, matches: (error: Error) => boolean): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.some((one) => hasMatch(one, matches));
  return matches(error);
}

/**
 * Repeats `work` while its errors are temporary and `signal` is not aborted. `work` must be safe to repeat after a
 * commit whose confirmation was lost. Throws permanent errors, or the last temporary one once `signal` is aborted.
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

// No space on disk, out of memory, an I/O error; a standby or read-only transactions after a failover.
const REJECTS_WRITES = /^(53[124]00|58...|25006)$/;

/** Returns true if the database answers but cannot store anything at present. */
export function rejectsWrites(error: unknown): boolean {
  return error instanceof Error && REJECTS_WRITES.test(codeOf(error));
}

type Outage = {
  text: string;
  passing: boolean;
};

const OUTAGES: (Outage & { codes: string[]; messages: RegExp })[] = [
  {
    codes: ["ECONNREFUSED", "ENOTFOUND", "ETIMEDOUT"],
    messages: /ECONNREFUSED|ENOTFOUND|ETIMEDOUT|Can't reach/,
    text: "The database does not answer. Is DATABASE_URL right, and is PostgreSQL running?",
    passing: true,
  },
  {
    codes: ["28P01", "28000"],
    messages: /password authentication failed/,
    text: "The database rejects the user or password of DATABASE_URL.",
    passing: false,
  },
  {
    codes: ["3D000"],
    messages: /database .* does not exist/,
    text: "The database named by DATABASE_URL does not exist. Create it first.",
    passing: false,
  },
  {
    codes: ["42P01", "P2021"],
    messages: /(relation|table) .* does not exist/,
    text: "The database has no tables yet. Start the service once: it migrates.",
    passing: false,
  },
];

/** The common reasons why a database cannot be used; null for any other error. */
export function describeOutage(error: unknown): Outage | null {
  const causes = causesOf(error);
  const found = OUTAGES.find(({ codes, messages }) =>
    causes.some((cause) => codes.includes(codeOf(cause)) || messages.test(cause.message)),
  );
  return found ?? null;
}
