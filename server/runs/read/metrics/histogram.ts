import type { MemberActor } from "@/server/base/actor";
import { DAY_MS } from "@/server/base/clock";
import type { Services } from "@/server/runs/services";
import { countedFilter } from "../counted-filter";
import { MAX_METRICS_DAYS, PERIOD_MS, type RunPeriod } from "../enums";
import type { RunFilter } from "../find/filter";
import { type MetricsQuestion, rangeOf, readParts } from "./metrics";

export type RunHistogram = NonNullable<Awaited<ReturnType<typeof readRunHistogram>>>;

/** Of a filter without times. */
const USUAL_PERIOD: RunPeriod = "7d";

/**
 * Runs and failed runs of a filter by their creation, whatever their status, in a period that includes the filter's
 * times. Reads stored counts, like the metrics; null if they cannot answer. Drafts are only counted.
 */
export async function readRunHistogram(
  services: Pick<Services, "clock" | "pool">,
  actor: MemberActor,
  { filter }: { filter: RunFilter },
) {
  const counted = countedFilter(filter);
  if (counted === null) return null;
  const { from, to, bucketMs } = rangeOf(questionOf(filter, services.clock.now()), services.clock.now());
  const bars = Array.from({ length: Math.ceil((to - from) / bucketMs) }, (_, index) => ({
    from: new Date(from + index * bucketMs).toISOString(),
    to: new Date(Math.min(to, from + (index + 1) * bucketMs)).toISOString(),
    runs: 0,
    failed: 0,
  }));
  let drafts = 0;
  const subject = counted.subject ?? ({ dimension: "all", id: actor.orgId } as const);
  for (const part of await readParts(services, actor, {
    from: new Date(from),
    to: new Date(to),
    bucketMs,
    subject,
  })) {
    const bar = bars[part.bucket];
    if (!bar) continue;
    bar.runs += counted.children ? part.runs : part.runs - part.children;
    bar.failed += counted.children ? part.failed : part.failed - part.childrenFailed;
    drafts += part.drafts;
  }
  return { bucketMs, drafts, bars };
}

/** Around fixed times, days before and after them, so that the reader sees where they are. */
function questionOf(filter: RunFilter, now: Date): MetricsQuestion {
  const period = filter.period ?? USUAL_PERIOD;
  if (filter.from === undefined && filter.to === undefined) return { period };
  const to = filter.to === undefined ? now.getTime() : Date.parse(filter.to);
  const from = filter.from === undefined ? to - PERIOD_MS[USUAL_PERIOD] : Date.parse(filter.from);
  if (from >= to || from > now.getTime()) return { period };
  const until = Math.max(from, Math.min(now.getTime(), to + (to - from)) - 1);
  const since = Math.max(0, from - (to - from), until - (MAX_METRICS_DAYS - 1) * DAY_MS);
  return { period, days: { first: dayOf(since), last: dayOf(until) } };
}

const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);
