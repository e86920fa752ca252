import { z } from "zod";
import type { MemberActor } from "@/server/auth/actor";
import { Prisma } from "@/server/db/generated/client";
import { type RunFilter, runConditions } from "@/server/runs/filter";
import type { RunPeriod } from "@/server/runs/words";
import type { Services } from "@/server/services";

/** Figures of a set of runs. Durations in ms (of runs that ended), null without any; credits a decimal. */
export type RunFigures = {
  runs: number;
  completed: number;
  failed: number;
  cancelled: number;
  open: number;
  tokens: number;
  credits: string;
  p50: number | null;
  p95: number | null;
};

/** The runs created from `from` until before `to` (ISO 8601). */
export type MetricsBucket = RunFigures & { from: string; to: string };

/** The runs of one agent, tool, trigger or key. */
export type MetricsGroup = RunFigures & { id: string; name: string };

export type RunMetrics = {
  from: string;
  to: string;
  bucketMs: number;
  total: RunFigures;
  buckets: MetricsBucket[];
  agents: MetricsGroup[];
  tools: MetricsGroup[];
  triggers: MetricsGroup[];
  keys: MetricsGroup[];
};

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long each period is, and into what it is cut: at most 31 bars. */
const PERIODS: Record<RunPeriod, { lengthMs: number; bucketMs: number }> = {
  "1h": { lengthMs: HOUR, bucketMs: 2 * MINUTE },
  "24h": { lengthMs: DAY, bucketMs: HOUR },
  "7d": { lengthMs: 7 * DAY, bucketMs: 6 * HOUR },
  "30d": { lengthMs: 30 * DAY, bucketMs: DAY },
};

const FIGURES = Prisma.sql`
  count(*)::int AS runs,
  count(*) FILTER (WHERE r.status = 'Completed')::int AS completed,
  count(*) FILTER (WHERE r.status = 'Failed')::int AS failed,
  count(*) FILTER (WHERE r.status = 'Cancelled')::int AS cancelled,
  count(*) FILTER (WHERE r.status IN ('Pending', 'Running'))::int AS open,
  coalesce(sum(r.input_tokens::bigint + r.output_tokens), 0)::float8 AS tokens,
  coalesce(sum(r.credits_used), 0)::text AS credits,
  percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (
    ORDER BY extract(epoch FROM r.finished_at - r.started_at)::float8 * 1000
  ) AS percentiles`;

const figureColumns = z.object({
  runs: z.number(),
  completed: z.number(),
  failed: z.number(),
  cancelled: z.number(),
  open: z.number(),
  tokens: z.number(),
  credits: z.string(),
  percentiles: z.array(z.number().nullable()).nullable(),
});
const groupRow = figureColumns.extend({
  dimension: z.enum(["all", "bucket", "agent", "tool", "trigger", "key"]),
  id: z.string().nullable(),
  name: z.string().nullable(),
  bucket: z.number().nullable(),
});

const NOTHING: RunFigures = {
  runs: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
  open: 0,
  tokens: 0,
  credits: "0.0000",
  p50: null,
  p95: null,
};

/**
 * Counts the organization's runs of a period, over time and by agent, tool, trigger and key. Bars start at round
 * moments of UTC; each figure is of runs *created* in its time, so that it leads to a list of just those runs.
 */
export async function readRunMetrics(
  services: Services,
  actor: MemberActor,
  { period, filter }: { period: RunPeriod; filter: RunFilter },
): Promise<RunMetrics> {
  const { lengthMs, bucketMs } = PERIODS[period];
  const to = Math.ceil((services.clock.now().getTime() + 1) / bucketMs) * bucketMs;
  const from = to - lengthMs;
  const { period: _, ...rest } = filter;
  const within = { ...rest, from: new Date(from).toISOString(), to: new Date(to).toISOString() };
  const conditions = runConditions(actor.orgId, within, services.clock.now());
  const found = await services.db.$queryRaw`
    WITH r AS (
      SELECT r.*, floor((extract(epoch FROM r.created_at)::float8 * 1000 - ${from}) / ${bucketMs})::int AS bucket
      FROM runs r WHERE ${Prisma.join(conditions, " AND ")}
    ), counted AS (
      SELECT CASE
          WHEN grouping(bucket) = 0 THEN 'bucket' WHEN grouping(agent_id) = 0 THEN 'agent'
          WHEN grouping(tool_id) = 0 THEN 'tool' WHEN grouping(trigger_id) = 0 THEN 'trigger'
          WHEN grouping(api_key_id) = 0 THEN 'key' ELSE 'all' END AS dimension,
        coalesce(agent_id, tool_id, trigger_id, api_key_id) AS id, bucket, ${FIGURES}
      FROM r GROUP BY GROUPING SETS ((), (bucket), (agent_id), (tool_id), (trigger_id), (api_key_id))
    )
    SELECT c.*, coalesce(a.name, o.name, t.name, k.name) AS name FROM counted c
    LEFT JOIN agents a ON c.dimension = 'agent' AND a.id = c.id
    LEFT JOIN tools o ON c.dimension = 'tool' AND o.id = c.id
    LEFT JOIN triggers t ON c.dimension = 'trigger' AND t.id = c.id
    LEFT JOIN api_keys k ON c.dimension = 'key' AND k.id = c.id
    ORDER BY c.runs DESC`;
  const rows = z.array(groupRow).parse(found);
  const byBucket = new Map(rows.filter((row) => row.dimension === "bucket").map((row) => [row.bucket, row]));
  const groups = (dimension: string): MetricsGroup[] =>
    rows.flatMap((row) =>
      row.dimension === dimension && row.id !== null
        ? [{ ...viewFigures(row), id: row.id, name: row.name ?? "deleted" }]
        : [],
    );
  return {
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    bucketMs,
    total: viewFigures(rows.find((row) => row.dimension === "all")),
    buckets: Array.from({ length: lengthMs / bucketMs }, (_, index) => ({
      ...viewFigures(byBucket.get(index)),
      from: new Date(from + index * bucketMs).toISOString(),
      to: new Date(from + (index + 1) * bucketMs).toISOString(),
    })),
    agents: groups("agent"),
    tools: groups("tool"),
    triggers: groups("trigger"),
    keys: groups("key"),
  };
}

function viewFigures(row: z.infer<typeof figureColumns> | undefined): RunFigures {
  if (!row) return NOTHING;
  const [p50 = null, p95 = null] = row.percentiles ?? [];
  return {
    runs: row.runs,
    completed: row.completed,
    failed: row.failed,
    cancelled: row.cancelled,
    open: row.open,
    tokens: row.tokens,
    credits: row.credits,
    p50,
    p95,
  };
}
