"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useSearchParams } from "next/navigation";
import type { ReactNode } from "react";
import { buttonClass } from "@/app/_ui/button";
import { Chip } from "@/app/_ui/chip";
import { useTimeZone } from "@/app/_ui/data/clock";
import { useTRPC } from "@/app/_ui/data/providers";
import { bucketLabel } from "@/app/_ui/figures/buckets";
import { formatCount, formatCredits, formatPlural, formatSpan } from "@/app/_ui/figures/format";
import { Link } from "@/app/_ui/link";
import { Empty, PageHead, SkeletonLine } from "@/app/_ui/page/page";
import { Segments } from "@/app/_ui/segments";
import { Unreadable } from "@/app/_ui/text/unreadable";
import { DAY_MS, HOUR_MS } from "@/server/base/clock";
import { METRICS_DIMENSIONS } from "@/server/contract/enums";
import { intervalMs, RUN_PERIODS, type RunPeriod } from "@/server/runs/read/enums";
import type { RunFilter } from "@/server/runs/read/find/filter";
import type {
  MetricsBucket,
  MetricsQuestion,
  MetricsSubject,
  RunMetrics,
} from "@/server/runs/read/metrics/metrics";
import { writeFilter } from "../runs/address";
import { filterOf, intervalsOf, readMetricsAddress, writeMetricsAddress } from "./address";
import { DurationChart, StatusChart, VolumeChart } from "./charts";
import { DayRange } from "./day-range";
import { figureFilters } from "./figures";
import { FiguresSection } from "./figures-section";
import { KeyFigures } from "./key-figures";

const PERIOD_LABELS: Record<RunPeriod, string> = {
  "1h": "1 hour",
  "24h": "24 hours",
  "7d": "7 days",
  "30d": "30 days",
  "90d": "90 days",
};
const DIMENSION_PATHS = { agent: "/agents", tool: "/tools", trigger: "/triggers", schedule: "/schedules" };

/** Run statistics of a period. Every figure links to the runs it counts. */
export function MetricsView() {
  const trpc = useTRPC();
  const question = readMetricsAddress(useSearchParams());
  const query = useQuery({
    ...trpc.runs.metrics.queryOptions(question),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
  const metrics = query.data;
  const [usual] = intervalsOf(question.period);
  return (
    <>
      <PageHead title="Metrics">
        {question.days ? null : (
          <Segments
            before="Interval"
            label="Interval"
            onChange={(interval) => changeQuestion((latest) => ({ ...latest, interval }))}
            options={[...intervalsOf(question.period)]
              .sort((a, b) => intervalMs(a) - intervalMs(b))
              .map((value) => ({ value, label: intervalLabel(intervalMs(value)) }))}
            value={question.interval ?? usual}
          />
        )}
        <Segments
          className="flex-wrap"
          label="Period"
          onChange={(period) => changeQuestion(({ days: _, ...latest }) => ({ ...latest, period }))}
          options={RUN_PERIODS.map((value) => ({ value, label: PERIOD_LABELS[value] }))}
          value={question.days ? null : question.period}
        />
        <DayRange
          days={question.days ?? null}
          onChange={(days) => changeQuestion(({ interval: _, ...latest }) => ({ ...latest, days }))}
        />
      </PageHead>
      {question.subject ? (
        <Subject
          metrics={metrics}
          onDrop={() => changeQuestion(({ subject: _, ...rest }) => rest)}
          subject={question.subject}
        />
      ) : null}
      {metrics ? (
        <MetricsFigures metrics={metrics} question={question} />
      ) : query.isError ? (
        <Unreadable query={query} what="Could not load metrics" />
      ) : (
        <div aria-busy="true" className="flex h-96 flex-col gap-6 px-6 py-6">
          <SkeletonLine className="w-full" />
          <SkeletonLine className="w-2/3" />
        </div>
      )}
    </>
  );
}

/** Reads the address, because the page may not have rendered it yet. */
function changeQuestion(change: (latest: MetricsQuestion) => MetricsQuestion): void {
  const latest = readMetricsAddress(new URLSearchParams(location.search));
  window.history.replaceState(null, "", writeMetricsAddress(change(latest)));
}

function intervalLabel(ms: number): string {
  return ms < DAY_MS ? formatSpan(ms) : `${ms / DAY_MS} d`;
}

type SubjectProps = { metrics: RunMetrics | undefined; subject: MetricsSubject; onDrop: () => void };

function Subject({ metrics, subject, onDrop }: SubjectProps) {
  const { dimension, id } = subject;
  const shown = metrics?.subject?.id === id ? metrics.subject : undefined;
  return (
    <div className="flex items-center gap-3 px-4 pb-3 sm:px-6">
      <Chip label={dimension} onDrop={onDrop}>
        {dimension} {shown?.name ?? <SkeletonLine className="w-16" />}
      </Chip>
      {dimension === "key" || shown?.isDeleted ? null : (
        <Link className="text-accent hover:underline" href={`${DIMENSION_PATHS[dimension]}/${id}`}>
          Open the {dimension}
        </Link>
      )}
    </div>
  );
}

function MetricsFigures({ metrics, question }: { metrics: RunMetrics; question: MetricsQuestion }) {
  const timeZone = useTimeZone();
  const within = {
    ...(metrics.subject ? filterOf(metrics.subject) : {}),
    from: metrics.from,
    to: metrics.to,
    // Metrics do not count drafts.
    source: "saved" as const,
  };
  const runsOf = (change: RunFilter) => `/runs${writeFilter({ ...within, ...change })}`;
  const bucketRuns = (bucket: MetricsBucket, change: RunFilter = {}) =>
    runsOf({ ...change, from: bucket.from, to: bucket.to });
  if (metrics.total.runs === 0) {
    return (
      <Empty title="No runs in this period">
        <p>Choose a longer period above, or start a run.</p>
        <Link className={buttonClass("plain")} href="/agents">
          Open the agents
        </Link>
      </Empty>
    );
  }
  return (
    <>
      <KeyFigures hrefOf={runsOf} metrics={metrics} />
      <p className="border-line border-b px-4 py-2 text-muted text-xs sm:px-6">
        {describeRuns(metrics)} {describeComparison(metrics)}
      </p>
      <div className="grid border-line border-b lg:grid-cols-2 lg:*:odd:border-line lg:*:odd:border-r">
        <Section title="Runs by status">
          <StatusChart hrefOf={bucketRuns} metrics={metrics} />
        </Section>
        <Section title="Duration">
          <DurationChart hrefOf={bucketRuns} metrics={metrics} />
        </Section>
        <Section title="Tokens">
          <VolumeChart
            format={formatCount}
            hrefOf={(bucket) => bucketRuns(bucket, figureFilters(bucket).tokens)}
            measure={(bucket) => bucket.tokens}
            metrics={metrics}
            name="tokens"
          />
        </Section>
        <Section title="Credits">
          <VolumeChart
            format={(value) => value.toFixed(4)}
            hrefOf={(bucket) => bucketRuns(bucket, figureFilters(bucket).credits)}
            measure={(bucket) => Number(bucket.credits)}
            metrics={metrics}
            name="credits"
          />
        </Section>
      </div>
      <div className="flex flex-col gap-8 pt-6 pb-10">
        {METRICS_DIMENSIONS.map((dimension) => (
          <FiguresSection
            first="Name"
            key={dimension}
            rows={metrics[`${dimension}s`].map(({ id, name, ...figures }) => ({
              key: id,
              name,
              href: writeMetricsAddress({ ...question, subject: { dimension, id } }),
              figures,
              hrefOf: (change) => runsOf({ ...change, ...filterOf({ dimension, id }) }),
            }))}
            title={`By ${dimension === "key" ? "API key" : dimension}`}
          />
        ))}
        <FiguresSection
          first="From"
          // The charts' numbers, newest first, without empty bars.
          rows={metrics.buckets
            .filter((bucket) => bucket.runs > 0)
            .reverse()
            .map((bucket) => ({
              key: bucket.from,
              name: bucketLabel(bucket, metrics.bucketMs, timeZone),
              href: bucketRuns(bucket),
              figures: bucket,
              hrefOf: (change) => bucketRuns(bucket, change),
            }))}
          title="Over time"
        >
          {metrics.bucketMs >= DAY_MS && timeZone !== "UTC" ? (
            <span className="font-normal text-muted"> in UTC days</span>
          ) : null}
        </FiguresSection>
      </div>
    </>
  );
}

function describeRuns({ total: { runs, children, drafts, draftCredits } }: RunMetrics): string {
  const parts = `${formatPlural(runs - children, "root run")}, ${formatPlural(children, "child run")}.`;
  if (drafts === 0) return parts;
  const cost = Number(draftCredits) === 0 ? "" : ` (${formatCredits(draftCredits, 2)} credits)`;
  return `${parts} Not counted: ${formatPlural(drafts, "run")} of drafts${cost}.`;
}

function describeComparison({ from, to, before }: RunMetrics): string {
  const hours = (Date.parse(to) - Date.parse(from)) / HOUR_MS;
  const [count, unit] = hours % 24 === 0 ? [hours / 24, "day"] : [hours, "hour"];
  const length = count === 1 ? unit : formatPlural(count, unit);
  return before.runs === 0
    ? `There were no runs in the ${length} before to compare with.`
    : `Changes are against the ${length} before.`;
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section
      aria-label={title}
      className="min-w-0 border-line pt-5 pb-4 not-first:border-t lg:nth-2:border-t-0"
    >
      <h2 className="px-4 pb-2 font-semibold sm:px-6">{title}</h2>
      <div className="px-4 sm:px-6">{children}</div>
    </section>
  );
}
