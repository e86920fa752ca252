import type { Services } from "@/server/services";

/** The most segments that one statement deletes. */
const BATCH = 5_000;

/**
 * Deletes what rate limits no longer need. That is every segment older than its window except the newest, which
 * shows how many calls are free again. A counter is deleted an hour after its window, if it is unused.
 */
export async function pruneRateSegments({ pool, clock }: Pick<Services, "pool" | "clock">): Promise<void> {
  const now = clock.now();
  await pool.query(
    `DELETE FROM rate_segments s USING (
       SELECT s.key, max(s.at) AS newest FROM rate_segments s JOIN rate_counters c ON c.key = s.key
       WHERE s.at <= $1::timestamptz - make_interval(secs => c.seconds) GROUP BY s.key LIMIT $2) old
     WHERE s.key = old.key AND s.at < old.newest`,
    [now, BATCH],
  );
  await pool.query(
    `WITH unused AS (
       SELECT key FROM rate_counters WHERE updated_at < $1::timestamptz - make_interval(secs => seconds) - interval '1 hour'
       LIMIT $2 FOR UPDATE SKIP LOCKED
     ), segments AS (DELETE FROM rate_segments s USING unused u WHERE s.key = u.key)
     DELETE FROM rate_counters c USING unused u WHERE c.key = u.key`,
    [now, BATCH],
  );
}
