import { z } from "zod";
import type { Clock } from "@/server/base/clock";
import { defineCommand, defineQuery, type Queryable } from "@/server/base/db/statement";
import { AppError } from "@/server/base/errors";

type RateLimit = { key: string; limit: number; seconds: number };

/** A limit that is counted in the transaction of the limited call, and its name in headers. */
export type CountedLimit = RateLimit & { name: string };

export type RateDecision = {
  allowed: boolean;
  limit: number;
  seconds: number;
  remaining: number;
  /** Rounded up; until the oldest counted call leaves the window. */
  resetSeconds: number;
};

const TAKE = defineQuery(
  "take-rate",
  z.object({ granted: z.number(), remaining: z.number(), resetSeconds: z.number() }),
  'SELECT granted, remaining, reset_seconds AS "resetSeconds" FROM take_rate($1, $2, $3, $4, $5)',
);

/**
 * Takes up to `wanted` calls from an exact sliding window that all processes share. A rejected call does not count.
 * Returns how many were granted.
 */
export async function acquireRate(
  client: Queryable,
  { key, limit, seconds }: RateLimit,
  { wanted = 1, clock }: { wanted?: number; clock: Clock },
): Promise<RateDecision & { granted: number }> {
  const [row] = await TAKE(client, [key, wanted, limit, seconds, clock.forDatabase()]);
  if (row === undefined) throw new Error("take_rate gave no row");
  return { allowed: row.granted > 0, limit, seconds, ...row };
}

/** Takes one call. Throws `rate_limited` with `message` and the time to wait. */
export async function requireRate(
  { pool, clock }: { pool: Queryable; clock: Clock },
  { message, ...limit }: RateLimit & { message: string },
): Promise<void> {
  const { allowed, resetSeconds } = await acquireRate(pool, limit, { clock });
  if (allowed) return;
  throw new AppError("rate_limited", `${message} Try again in ${resetSeconds} s.`, {
    headers: { "retry-after": String(resetSeconds) },
  });
}

export const releaseRate = defineCommand(
  "release-rate",
  `WITH counter AS (SELECT key FROM rate_counters WHERE key = $1 FOR UPDATE),
   segments AS (DELETE FROM rate_segments s USING counter c WHERE s.key = c.key)
   DELETE FROM rate_counters r USING counter c WHERE r.key = c.key`,
);

const PRUNE_BATCH = 5_000;

const PRUNE_SEGMENTS = defineCommand(
  "prune-rate-segments",
  `DELETE FROM rate_segments s USING (
     SELECT s.key, max(s.at) AS newest FROM rate_segments s JOIN rate_counters c ON c.key = s.key
     WHERE s.at <= $1::timestamptz - make_interval(secs => c.seconds) GROUP BY s.key LIMIT $2) old
   WHERE s.key = old.key AND s.at < old.newest`,
);
const PRUNE_COUNTERS = defineCommand(
  "prune-rate-counters",
  `WITH unused AS (
     SELECT key FROM rate_counters WHERE updated_at < $1::timestamptz - make_interval(secs => seconds) - interval '1 hour'
     LIMIT $2 FOR UPDATE SKIP LOCKED
   ), segments AS (DELETE FROM rate_segments s USING unused u WHERE s.key = u.key)
   DELETE FROM rate_counters c USING unused u WHERE c.key = u.key`,
);

/**
 * Deletes segments older than their window, except the newest, which counts the free calls. Also deletes counters
 * that were unused for an hour beyond their window.
 */
export async function pruneRateSegments({ pool, clock }: { pool: Queryable; clock: Clock }): Promise<void> {
  const values = [clock.now(), PRUNE_BATCH];
  await PRUNE_SEGMENTS(pool, values);
  await PRUNE_COUNTERS(pool, values);
}

/** The `RateLimit` and `RateLimit-Policy` headers of a decision (IETF draft, RateLimit header fields). */
export function rateLimitHeaders(
  name: string,
  decision: RateDecision,
): { "RateLimit-Policy": string; RateLimit: string } {
  return {
    "RateLimit-Policy": `"${name}";q=${decision.limit};w=${decision.seconds}`,
    RateLimit: `"${name}";r=${decision.remaining};t=${decision.resetSeconds}`,
  };
}

export function rateLimited(name: string, decision: RateDecision): AppError {
  return new AppError(
    "rate_limited",
    `Too Many Requests: at most ${decision.limit} in ${decision.seconds} seconds. Try again in ${decision.resetSeconds} s.`,
    { headers: { ...rateLimitHeaders(name, decision), "Retry-After": String(decision.resetSeconds) } },
  );
}
