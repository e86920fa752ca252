import type { Clock } from "@/server/clock";
import type { Queryable } from "@/server/db/sql";
import { AppError } from "@/server/errors";

/** A limit on calls: at most `limit` accepted ones in any window of `seconds`. */
export type RateLimit = { key: string; limit: number; seconds: number };

export type RateDecision = {
  allowed: boolean;
  limit: number;
  seconds: number;
  /** Accepted calls that are still free in the window. */
  remaining: number;
  /** Seconds, rounded up, until the oldest counted call leaves the window. */
  resetSeconds: number;
};

/**
 * Times are kept for this much longer than they count: of two calls that meet at the row, the earlier one may come to it
 * later, and must still see what counted at its own moment. Covers waiting for the row and clocks that differ.
 */
const KEPT_SECONDS = 5;

const TAKE = {
  name: "take-rate",
  text: `
  INSERT INTO rate_windows AS w (key, hits, updated_at) VALUES ($1, ARRAY[$2::timestamptz], $2)
  ON CONFLICT (key) DO UPDATE SET
    hits = (
      SELECT array_agg(hit) FROM unnest(w.hits || $2::timestamptz) AS hit
      WHERE hit > $2::timestamptz - make_interval(secs => $4::float8 + $5::float8)
    ),
    updated_at = $2
  WHERE (SELECT count(*) FROM unnest(w.hits) AS hit WHERE hit > $2::timestamptz - make_interval(secs => $4::float8)) < $3
  RETURNING
    (SELECT count(*)::int FROM unnest(hits) AS hit WHERE hit > $2::timestamptz - make_interval(secs => $4::float8)) AS taken,
    (SELECT min(hit) FROM unnest(hits) AS hit WHERE hit > $2::timestamptz - make_interval(secs => $4::float8)) AS oldest`,
};

const PEEK = `
  SELECT count(*)::int AS taken, min(hit) AS oldest
  FROM rate_windows w, unnest(w.hits) AS hit
  WHERE w.key = $1 AND hit > $2::timestamptz - make_interval(secs => $3)`;

/**
 * Takes one call from an exact sliding window, shared by all processes through the database: one statement when
 * the call is allowed. A refused call does not count (product.md, "Rate limits").
 */
export async function takeFromWindow(
  client: Queryable,
  limit: RateLimit,
  clock: Clock,
): Promise<RateDecision> {
  const now = clock.now();
  const taken = await client.query<{ taken: number; oldest: Date }>({
    ...TAKE,
    values: [limit.key, now, limit.limit, limit.seconds, KEPT_SECONDS],
  });
  const row = taken.rows[0];
  if (row !== undefined) return decide(true, limit, row.taken, row.oldest, now);
  const { rows } = await client.query<{ taken: number; oldest: Date | null }>(PEEK, [
    limit.key,
    now,
    limit.seconds,
  ]);
  return decide(false, limit, rows[0]?.taken ?? limit.limit, rows[0]?.oldest ?? now, now);
}

function decide(allowed: boolean, limit: RateLimit, taken: number, oldest: Date, now: Date): RateDecision {
  const resetMs = oldest.getTime() + limit.seconds * 1000 - now.getTime();
  return {
    allowed,
    limit: limit.limit,
    seconds: limit.seconds,
    remaining: Math.max(0, limit.limit - taken),
    resetSeconds: Math.max(1, Math.ceil(resetMs / 1000)),
  };
}

/** The `RateLimit` and `RateLimit-Policy` headers of a decision (IETF draft, RateLimit header fields). */
export function rateLimitHeaders(name: string, decision: RateDecision): Record<string, string> {
  return {
    "RateLimit-Policy": `"${name}";q=${decision.limit};w=${decision.seconds}`,
    RateLimit: `"${name}";r=${decision.remaining};t=${decision.resetSeconds}`,
  };
}

/** The error of a refused call, with `Retry-After`. */
export function rateLimited(name: string, decision: RateDecision): AppError {
  return new AppError(
    "rate_limited",
    `Too Many Requests: at most ${decision.limit} in ${decision.seconds} seconds. Try again in ${decision.resetSeconds} s.`,
    { headers: { ...rateLimitHeaders(name, decision), "Retry-After": String(decision.resetSeconds) } },
  );
}
