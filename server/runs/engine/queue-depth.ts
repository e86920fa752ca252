import { z } from "zod";
import { defineQuery } from "@/server/base/db/statement";
import type { Services } from "@/server/runs/services";
import { WAITING } from "./run-state";

/** The reasons why runs wait: their plan allows no more at once, or no process has a free slot. */
export const QUEUE_CLASSES = ["at_limit", "below_limit"] as const;

type QueueDepth = z.infer<typeof depth>;
const depth = z.object({
  class: z.enum(QUEUE_CLASSES),
  organizations: z.number(),
  runs: z.number(),
  oldestSeconds: z.number(),
});

const MOST_ORGANIZATIONS = 1_000;
const MOST_RUNS = 1_000;

// A run that waits again waits since it yielded its slot, or since its `wait` was over; a run that was taken from its
// worker, at most since the worker's last journal row. Reads the index `runs_waiting` organization by organization.
const MEASURE = defineQuery(
  "queue-depth",
  depth,
  `WITH RECURSIVE waiting AS (
     (SELECT organization_id, 1 AS n FROM runs WHERE ${WAITING} ORDER BY organization_id LIMIT 1)
     UNION ALL
     SELECT (SELECT r.organization_id FROM runs r WHERE ${WAITING} AND r.organization_id > w.organization_id ORDER BY 1 LIMIT 1), n + 1
     FROM waiting w WHERE w.organization_id IS NOT NULL AND n < ${MOST_ORGANIZATIONS}
   )
   SELECT CASE WHEN o.in_flight >= p.concurrency THEN 'at_limit' ELSE 'below_limit' END AS class,
          count(*)::int AS organizations, sum(q.runs)::int AS runs,
          greatest(0, extract(epoch FROM coalesce($1, clock_timestamp()) - min(q.since)))::float8 AS "oldestSeconds"
   FROM waiting w JOIN organizations o ON o.id = w.organization_id JOIN plans p ON p.organization_id = o.id
   CROSS JOIN LATERAL (
     SELECT count(*) AS runs, min(since) AS since FROM (
       SELECT CASE WHEN cardinality(r.yielded_at) > cardinality(r.resumed_at)
                   THEN greatest(r.yielded_at[cardinality(r.yielded_at)], (SELECT max(e.until) FROM run_events e WHERE e.run_id = r.id))
                   WHEN r.started_at IS NULL THEN r.created_at
                   ELSE greatest(r.started_at, r.resumed_at[cardinality(r.resumed_at)],
                                 (SELECT max(greatest(s.started_at, s.finished_at)) FROM steps s WHERE s.run_id = r.id),
                                 (SELECT max(greatest(m.started_at, m.finished_at)) FROM model_calls m WHERE m.run_id = r.id))
              END AS since
       FROM runs r WHERE r.organization_id = o.id AND ${WAITING} ORDER BY r.id LIMIT ${MOST_RUNS}) first) q
   WHERE q.runs > 0
   GROUP BY 1`,
);

/** The waiting runs of all organizations by class, at most a thousand of each of a thousand organizations. */
export function measureQueue({ pool, clock }: Pick<Services, "pool" | "clock">): Promise<QueueDepth[]> {
  return MEASURE(pool, [clock.forDatabase()]);
}
