import { z } from "zod";
import type { MemberActor } from "@/server/auth/actor";
import { DAY_MS, HOUR_MS } from "@/server/clock";
import { METRICS_DIMENSIONS } from "@/server/contract/enums";
import {
  countDays,
  intervalMs,
  MAX_METRICS_DAYS,
  METRICS_INTERVALS,
  type MetricsInterval,
  PERIOD_MS,
  RUN_PERIODS,
} from "@/server/runs/read/enums";
import type { Services } from "@/server/services";
import { addPart, emptySum, type Part, partRow, type RunFigures, type Sum, viewFigures } from "./figures";

export type RunMetrics = Awaited<ReturnType<typeof readRunMetrics>>;

/** The runs created from `from` until before `to` (ISO 8601). */
export type MetricsBucket = RunMetrics["buckets"][number];

/** One agent, tool, trigger or key. */
const metricsSubject = z.object({
  dimension: z.enum(METRICS_DIMENSIONS),
  id: z.uuid(),
});
export type MetricsSubject = z.infer<typeof metricsSubject>;

/** UTC days, both included. */
const metricsDays = z.object({ first: z.iso.date(), last: z.iso.date() }).refine(
  ({ first, last }) => {
    const days = countDays({ first, last });
    return days >= 1 && days <= MAX_METRICS_DAYS;
  },
  { error: `must be 1 to ${MAX_METRICS_DAYS} days` },
);

/**
 * The period of the metrics, the interval if not the default, and the subject if not all. `days` replace the period and
 * have intervals by their number.
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

/**
 * Settled days for bars of days, settled hours for bars of hours, and younger runs counted now. `$1`: the organization.
 * `$2`, `$3`: the period. `$4`: a bar in ms. `$5`: the unit of the runs counted now. `$6`, `$7`: whether stored hours
 * and days can be used. `$8`, `$9`: the subject, if any. Durations are strings, because parsing arrays is slow.
 */
const PARTS = `
  WITH settled AS MATERIALIZED (
    SELECT hours, CASE WHEN $7 THEN greatest($2::timestamptz, date_trunc('day', hours, 'UTC')) ELSE $2::timestamptz END AS days
    FROM (SELECT CASE WHEN $6 THEN least($3::timestamptz, greatest($2::timestamptz, (
        SELECT until FROM run_counts_until WHERE organization_id = $1::uuid
      ))) ELSE $2::timestamptz END AS hours) h
  )
  SELECT floor(extract(epoch FROM at - $2::timestamptz)::float8 * 1000 / $4::float8)::int AS bucket, dimension, subject_id AS "subjectId",
    runs, completed, failed, cancelled, open, tokens, credits,
    array_to_string(duration_classes, ',') AS "durationClasses", array_to_string(duration_runs, ',') AS "durationRuns"
  FROM (
    SELECT at, dimension, subject_id, runs, completed, failed, cancelled, 0 AS open, tokens, credits, duration_classes, duration_runs
    FROM run_counts, settled WHERE organization_id = $1::uuid AND span = 'day' AND at >= $2::timestamptz AND at < settled.days
    UNION ALL
    SELECT at, dimension, subject_id, runs, completed, failed, cancelled, 0, tokens, credits, duration_classes, duration_runs
    FROM run_counts, settled WHERE organization_id = $1::uuid AND span = 'hour' AND at >= settled.days AND at < settled.hours
    UNION ALL
    SELECT c.* FROM settled CROSS JOIN LATERAL count_runs($1::uuid, settled.hours, $3::timestamptz, $5::interval) c
  ) parts
  WHERE $8::run_count_dimension IS NULL OR (dimension = $8::run_count_dimension AND subject_id = $9::uuid)`;

const NAMES = ["agents", "tools", "triggers", "api_keys"]
  .map((table) => `SELECT id, name FROM ${table} WHERE organization_id = $1::uuid`)
  .join(" UNION ALL ");

/**
 * Counts the organization's runs of a period, over time and by agent, tool, trigger and key. With a subject, counts
 * only its runs, over time. Bars start at round UTC times. Each figure counts runs by their creation, so that it can
 * link to a list of exactly those runs. Settled hours and days come from `run_counts`; the rest is counted now.
 * Durations are exact to 1 %.
 */
export async function readRunMetrics(services: Services, actor: MemberActor, question: MetricsQuestion) {
  const { subject } = question;
  const { from, to, bucketMs } = rangeOf(question, services.clock.now());
  const [since, until] = [new Date(from), new Date(to)];
  const main = subject ?? ({ dimension: "all", id: actor.orgId } as const);
  const past = { from: new Date(2 * from - to), to: since, bucketMs, subject: main };
  const [parts, pastParts, named] = await Promise.all([
    readParts(services, actor, { from: since, to: until, bucketMs, subject }),
    readParts(services, actor, past),
    services.pool.query<{ id: string; name: string }>(NAMES, [actor.orgId]),
  ]);
  const before = emptySum();
  for (const part of pastParts) addPart(before, part);
  const names = new Map(named.rows.map(({ id, name }) => [id, name]));
  const nameOf = (id: string) => names.get(id) ?? "deleted";
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
      .filter(([, line]) => line.dimension === dimension && !subject)
      .map(([id, line]) => ({ ...viewFigures(line), id, name: nameOf(id) }))
      .sort((a, b) => b.runs - a.runs);
  return {
    from: since.toISOString(),
    to: until.toISOString(),
    bucketMs,
    /** The subject whose runs are counted, if not all; its name is "deleted" if it no longer exists. */
    subject: subject ? { ...subject, name: nameOf(subject.id) } : null,
    total: viewFigures(lines.get(main.id)),
    /** The figures of the period of the same length before. */
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
  };
}

/** The range of a question and the length of its bars in ms; a period ends with the bar of now. */
function rangeOf({ period, interval, days }: MetricsQuestion, now: Date) {
  if (days !== undefined) {
    const from = Date.parse(days.first);
    const length = countDays(days);
    const [, unit] = DAY_INTERVALS.find(([most]) => length <= most) ?? DAY_INTERVALS[0];
    return { from, to: from + length * DAY_MS, bucketMs: unit };
  }
  const bucketMs = intervalMs(interval ?? METRICS_INTERVALS[period][0]);
  const to = Math.ceil((now.getTime() + 1) / bucketMs) * bucketMs;
  return { from: to - PERIOD_MS[period], to, bucketMs };
}

/** Up to this many days have bars of this length. */
const DAY_INTERVALS: [[most: number, unitMs: number], ...[most: number, unitMs: number][]] = [
  [1, HOUR_MS],
  [3, 3 * HOUR_MS],
  [10, 6 * HOUR_MS],
  [60, DAY_MS],
  [180, 3 * DAY_MS],
  [MAX_METRICS_DAYS, 10 * DAY_MS],
];

/** The figures of a period by bar, dimension and subject; bars begin at `from`, both round UTC times. */
async function readParts(
  services: Services,
  actor: MemberActor,
  question: {
    from: Date;
    to: Date;
    bucketMs: number;
    subject?: { dimension: Part["dimension"]; id: string } | undefined;
  },
): Promise<Part[]> {
  const { from, to, bucketMs, subject } = question;
  const [hoursHelp, daysHelp] = [bucketMs % HOUR_MS === 0, bucketMs % DAY_MS === 0];
  const found = await services.pool.query(PARTS, [
    actor.orgId,
    from,
    to,
    bucketMs,
    hoursHelp ? "1 hour" : `${bucketMs} milliseconds`,
    hoursHelp,
    daysHelp,
    subject?.dimension ?? null,
    subject?.id ?? null,
  ]);
  return z.array(partRow).parse(found.rows);
}

const WEEK_DAYS = 7;

/** The runs of the last seven UTC days, today included: figures of all, and runs and failures of each day. */
export type WeekFigures = RunFigures & { days: { runs: number; failed: number }[] };

/** The figures of the last seven days by agent, tool or trigger; those without a run are missing. */
export async function readWeek(
  services: Services,
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
