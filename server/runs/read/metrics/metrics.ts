import { z } from "zod";
import type { Actor, MemberActor, OrgId } from "@/server/base/actor";
import { DAY_MS, HOUR_MS } from "@/server/base/clock";
import { Prisma } from "@/server/base/db/generated/client";
import { defineQuery, select } from "@/server/base/db/statement";
import { AppError } from "@/server/base/errors";
import { METRICS_DIMENSIONS } from "@/server/contract/enums";
import {
  countDays,
  intervalMs,
  isMetricsRange,
  MAX_METRICS_DAYS,
  METRICS_INTERVALS,
  type MetricsInterval,
  PERIOD_MS,
  RUN_PERIODS,
} from "@/server/runs/read/enums";
import type { Services } from "@/server/runs/services";
import { addPart, emptySum, type Part, partRow, type RunFigures, type Sum, viewFigures } from "./figures";

export type RunMetrics = Awaited<ReturnType<typeof readRunMetrics>>;

/** The runs created from `from` until before `to` (ISO 8601). */
export type MetricsBucket = RunMetrics["buckets"][number];

const metricsSubject = z.object({
  dimension: z.enum(METRICS_DIMENSIONS),
  id: z.uuid(),
});
export type MetricsSubject = z.infer<typeof metricsSubject>;

const metricsDays = z
  .object({ first: z.iso.date(), last: z.iso.date() })
  .refine(isMetricsRange, { error: `must be 1 to ${MAX_METRICS_DAYS} days before 9999` });

/**
 * Period of the metrics, interval and subject, if not all. `days` replace the period and have intervals by their
 * number.
 */
export const metricsQuestion = z
  .object({
    period: z.enum(RUN_PERIODS),
    interval: z.enum(Object.values(METRICS_INTERVALS).flat()).optional(),
    days: metricsDays.optional(),
    subject: metricsSubject.optional(),
  })
  .refine(
    ({ period, interval }) => {
      const intervals: readonly MetricsInterval[] = METRICS_INTERVALS[period];
      return interval === undefined || intervals.includes(interval);
    },
    { path: ["interval"], error: "is not one of the period's" },
  );
export type MetricsQuestion = z.infer<typeof metricsQuestion>;

const READ_NAMES = defineQuery(
  "read-names-of-subjects",
  z.object({ id: z.string(), name: z.string(), isDeleted: z.boolean() }),
  [
    'SELECT id, name, false AS "isDeleted" FROM api_keys WHERE organization_id = $1',
    ...["agents", "tools", "triggers", "schedules"].map(
      (table) => `SELECT id, name, deleted_at IS NOT NULL FROM ${table} WHERE organization_id = $1`,
    ),
  ].join(" UNION ALL "),
);

const FIND_DIMENSION = defineQuery(
  "find-dimension-of-target",
  z.object({ dimension: z.enum(["agent", "tool"]) }),
  `SELECT 'agent' AS dimension FROM agents WHERE organization_id = $1 AND id = $2
   UNION ALL SELECT 'tool' FROM tools WHERE organization_id = $1 AND id = $2`,
);

/** An agent or tool as a subject, also a deleted one. Throws `not_found`. */
export async function findSubject({ pool }: Services, orgId: OrgId, id: string): Promise<MetricsSubject> {
  const [found] = await FIND_DIMENSION(pool, [orgId, id]);
  if (found === undefined) throw new AppError("not_found", "Agent or tool not found.");
  return { ...found, id };
}

/**
 * Counts the organization's runs, or a subject's, by their creation, so that each figure can link to exactly those
 * runs. Bars start at round UTC times. Durations are exact to 1 %.
 */
export async function readRunMetrics(
  services: Pick<Services, "clock" | "pool">,
  actor: Pick<Actor, "orgId">,
  question: MetricsQuestion,
) {
  const { subject } = question;
  const { from, to, bucketMs } = rangeOf(question, services.clock.now());
  const [since, until] = [new Date(from), new Date(to)];
  const main = subject ?? ({ dimension: "all", id: actor.orgId } as const);
  const past = { from: new Date(2 * from - to), to: since, bucketMs, subject: main };
  const [parts, pastParts, named] = await Promise.all([
    readParts(services, actor, { from: since, to: until, bucketMs, subject }),
    readParts(services, actor, past),
    READ_NAMES(services.pool, [actor.orgId]),
  ]);
  const before = emptySum();
  for (const part of pastParts) addPart(before, part);
  const stored = new Map(named.map(({ id, ...rest }) => [id, rest]));
  const find = (id: string) => stored.get(id) ?? { name: "deleted", isDeleted: true };
  const lines = new Map<string, Sum & { dimension: Part["dimension"] }>();
  const buckets = new Map<number, Sum>();
  for (const part of parts) {
    const line = lines.get(part.subjectId) ?? { ...emptySum(), dimension: part.dimension };
    lines.set(part.subjectId, line);
    addPart(line, part);
    if (part.subjectId !== main.id) continue;
    const bucket = buckets.get(part.bucket) ?? emptySum();
    buckets.set(part.bucket, bucket);
    addPart(bucket, part);
  }
  const groups = (dimension: MetricsSubject["dimension"]) =>
    [...lines]
      .filter(([, line]) => line.dimension === dimension && line.runs > 0 && !subject)
      .map(([id, line]) => ({ ...viewFigures(line), id, name: find(id).name }))
      .sort((a, b) => b.runs - a.runs);
  return {
    from: since.toISOString(),
    to: until.toISOString(),
    bucketMs,
    // Null: all runs. The name is "deleted" if it no longer exists. A deleted one has no page.
    subject: subject ? { ...subject, ...find(subject.id) } : null,
    total: viewFigures(lines.get(main.id)),
    before: viewFigures(before),
    buckets: Array.from({ length: Math.ceil((to - from) / bucketMs) }, (_, index) => ({
      ...viewFigures(buckets.get(index)),
      from: new Date(from + index * bucketMs).toISOString(),
      to: new Date(Math.min(to, from + (index + 1) * bucketMs)).toISOString(),
    })),
    agents: groups("agent"),
    tools: groups("tool"),
    triggers: groups("trigger"),
    keys: groups("key"),
    schedules: groups("schedule"),
  };
}

/** Bars in ms; a period ends with the bar of now. */
export function rangeOf({ period, interval, days }: MetricsQuestion, now: Date) {
  if (days !== undefined) {
    const from = Date.parse(days.first);
    const length = countDays(days);
    const [, bucketMs = 10 * DAY_MS] = DAY_INTERVALS.find(([most]) => length <= most) ?? [];
    return { from, to: from + length * DAY_MS, bucketMs };
  }
  const bucketMs = intervalMs(interval ?? METRICS_INTERVALS[period][0]);
  const to = Math.ceil((now.getTime() + 1) / bucketMs) * bucketMs;
  return { from: to - PERIOD_MS[period], to, bucketMs };
}

/** More days have bars of ten days. */
const DAY_INTERVALS: [most: number, bucketMs: number][] = [
  [1, HOUR_MS],
  [3, 3 * HOUR_MS],
  [10, 6 * HOUR_MS],
  [60, DAY_MS],
  [180, 3 * DAY_MS],
];

/** `from` is the start of a bar in UTC. Stored counts cover settled days or hours. */
export function readParts(
  services: Pick<Services, "pool">,
  { orgId }: Pick<Actor, "orgId">,
  question: {
    from: Date;
    to: Date;
    bucketMs: number;
    subject?: { dimension: Part["dimension"]; id: string } | undefined;
  },
): Promise<Part[]> {
  const { from, to, bucketMs, subject } = question;
  const hoursHelp = bucketMs % HOUR_MS === 0;
  const daysHelp = bucketMs % DAY_MS === 0;
  const settled = hoursHelp
    ? Prisma.sql`least(${to}::timestamptz, greatest(${from}::timestamptz, (
        SELECT until FROM run_counts_until WHERE organization_id = ${orgId}::uuid)))`
    : Prisma.sql`${from}::timestamptz`;
  const settledDays = daysHelp
    ? Prisma.sql`greatest(${from}::timestamptz, date_trunc('day', hours, 'UTC'))`
    : Prisma.sql`${from}::timestamptz`;
  const unit = hoursHelp ? "1 hour" : `${bucketMs} milliseconds`;
  const ofSubject = subject
    ? Prisma.sql`WHERE dimension = ${subject.dimension}::run_count_dimension AND subject_id = ${subject.id}::uuid`
    : Prisma.empty;
  // Durations are strings, because parsing arrays is slow.
  return select(
    services.pool,
    partRow,
    Prisma.sql`
    WITH settled AS MATERIALIZED (SELECT hours, ${settledDays} AS days FROM (SELECT ${settled} AS hours) h)
    SELECT floor(extract(epoch FROM at - ${from}::timestamptz)::float8 * 1000 / ${bucketMs}::float8)::int AS bucket, dimension,
      subject_id AS "subjectId", runs, completed, failed, cancelled, open, tokens, credits,
      array_to_string(duration_classes, ',') AS "durationClasses", array_to_string(duration_runs, ',') AS "durationRuns",
      children, drafts, draft_credits AS "draftCredits", credits_below AS "creditsBelow",
      children_failed AS "childrenFailed"
    FROM (
      SELECT at, dimension, subject_id, runs, completed, failed, cancelled, 0 AS open, tokens, credits, duration_classes, duration_runs, children, drafts, draft_credits, credits_below, children_failed
      FROM run_counts, settled
      WHERE organization_id = ${orgId}::uuid AND span = 'day' AND at >= ${from}::timestamptz AND at < settled.days
      UNION ALL
      SELECT at, dimension, subject_id, runs, completed, failed, cancelled, 0, tokens, credits, duration_classes, duration_runs, children, drafts, draft_credits, credits_below, children_failed
      FROM run_counts, settled
      WHERE organization_id = ${orgId}::uuid AND span = 'hour' AND at >= settled.days AND at < settled.hours
      UNION ALL
      SELECT c.* FROM settled
      CROSS JOIN LATERAL count_runs(${orgId}::uuid, settled.hours, ${to}::timestamptz, ${unit}::interval) c
    ) parts ${ofSubject}`,
  );
}

const WEEK_DAYS = 7;

/** The runs of the last seven UTC days, today included: figures of all, and runs and failures of each day. */
export type WeekFigures = RunFigures & { days: { runs: number; failed: number }[] };

/** The figures of the last seven days by agent, tool or trigger; those without a run are missing. */
export async function readWeek(
  services: Pick<Services, "clock" | "pool">,
  actor: MemberActor,
  dimension: MetricsSubject["dimension"],
): Promise<Map<string, WeekFigures>> {
  const to = Math.ceil((services.clock.now().getTime() + 1) / DAY_MS) * DAY_MS;
  const from = to - WEEK_DAYS * DAY_MS;
  const range = { from: new Date(from), to: new Date(to), bucketMs: DAY_MS };
  const parts = await readParts(services, actor, range);
  const sums = new Map<string, { all: Sum; days: WeekFigures["days"] }>();
  for (const part of parts) {
    if (part.dimension !== dimension) continue;
    const sum = sums.get(part.subjectId) ?? {
      all: emptySum(),
      days: Array.from({ length: WEEK_DAYS }, () => ({ runs: 0, failed: 0 })),
    };
    sums.set(part.subjectId, sum);
    addPart(sum.all, part);
    const day = sum.days[part.bucket];
    if (!day) continue;
    day.runs += part.runs;
    day.failed += part.failed;
  }
  return new Map([...sums].map(([id, { all, days }]) => [id, { ...viewFigures(all), days }]));
}
