import { z } from "zod";
import { defineQuery } from "@/server/base/db/statement";
import { perOwner } from "@/server/base/per-owner";
import { sleep } from "@/server/base/sleep";
import { measureQueue, QUEUE_CLASSES } from "@/server/runs/engine/queue-depth";
import type { Services } from "@/server/services";

const MOST_ROWS = 10_000;
const NOW = "coalesce($1::timestamptz, now())";

// Rows that wait for a job of the service. A table that gets such rows gets a line here.
const BACKLOGS = {
  run_index: "SELECT FROM run_index_queue",
  traces: "SELECT FROM trace_queue",
  // The conditions of claim_callbacks: nobody takes those of an endpoint that is disabled or deleted. The inner limit keeps
  // PostgreSQL from reading these, which may be many.
  callbacks: `SELECT FROM callback_endpoints c JOIN organizations o ON o.id = c.organization_id
     CROSS JOIN LATERAL (
       SELECT FROM callback_deliveries d WHERE d.endpoint_id = c.id
         AND d.next_at <= ${NOW} AND (d.leased_until IS NULL OR d.leased_until <= ${NOW}) LIMIT ${MOST_ROWS}) d
     WHERE c.disabled_at IS NULL AND c.deleted_at IS NULL AND o.suspended_at IS NULL`,
} as const;

const NAMES = Object.keys(BACKLOGS);

const COUNT = defineQuery(
  "backlogs",
  z.record(z.string(), z.number()),
  `SELECT ${Object.entries(BACKLOGS)
    .map(([name, rows]) => `(SELECT count(*)::int FROM (${rows} LIMIT ${MOST_ROWS}) q) AS ${name}`)
    .join(", ")}`,
);

const READ_EVERY_MS = 5_000;
const PATIENCE_MS = 2_000;

type Depth = { runs: number; organizations: number; oldestSeconds: number };

/** Waiting runs by class, and rows by job. They are of the database, for all processes together. */
export type Backlogs = { queue: Map<string, Depth>; rows: Map<string, number> };

/** Two statements with bounded work. */
export async function readBacklogs(services: Pick<Services, "pool" | "clock">): Promise<Backlogs> {
  const [depths, [rows = {}]] = await Promise.all([
    measureQueue(services),
    COUNT(services.pool, [services.clock.forDatabase()]),
  ]);
  const queue = new Map<string, Depth>();
  // A class without runs is 0: an alert on a missing series would not end.
  for (const each of QUEUE_CLASSES) queue.set(each, { runs: 0, organizations: 0, oldestSeconds: 0 });
  for (const { class: each, ...depth } of depths) queue.set(each, depth);
  return { queue, rows: new Map(NAMES.map((name) => [name, rows[name] ?? 0])) };
}

/**
 * The process's reader of backlogs, for scrapes and pages. It reads at most once in five seconds. The result is null if
 * the database does not answer in time.
 */
export const backlogsOf = perOwner((services: Pick<Services, "pool" | "clock">) => {
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<Backlogs | null> = Promise.resolve(null);
  return (): Promise<Backlogs | null> => {
    const now = services.clock.monotonicMs();
    if (now - readAt < READ_EVERY_MS) return reading;
    readAt = now;
    const answered = new AbortController();
    reading = Promise.race([readBacklogs(services), sleep(PATIENCE_MS, answered.signal).then(() => null)])
      .catch(() => null)
      .finally(() => answered.abort());
    return reading;
  };
});
