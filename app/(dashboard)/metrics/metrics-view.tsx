"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { useRouter, useSearchParams } from "next/navigation";
import { classNames } from "@/app/_ui/class-names";
import { formatCount, formatCredits, formatDuration } from "@/app/_ui/format";
import { Bone, Empty, PageHead } from "@/app/_ui/page";
import { useTRPC } from "@/app/_ui/providers";
import { Cell, HeadCell, Table } from "@/app/_ui/table";
import { useTimeZone } from "@/app/_ui/time";
import { Unreadable } from "@/app/_ui/unreadable";
import type { RunFilter } from "@/server/runs/filter";
import type { MetricsBucket, MetricsGroup, RunFigures, RunMetrics } from "@/server/runs/metrics";
import { RUN_PERIODS, type RunPeriod } from "@/server/runs/words";
import { writeFilter } from "../runs/address";
import { readMetricsAddress } from "./address";
import { bucketLabel, DurationChart, StatusChart, VolumeChart } from "./charts";

const PERIOD_WORDS: Record<RunPeriod, string> = {
  "1h": "1 hour",
  "24h": "24 hours",
  "7d": "7 days",
  "30d": "30 days",
  "90d": "90 days",
};

/** How runs went over a period. Every figure leads to the runs it counts. */
export function MetricsView() {
  const trpc = useTRPC();
  const router = useRouter();
  const params = useSearchParams();
  const { filter, ...input } = readMetricsAddress(params);
  const { period } = input;
  const query = useQuery({
    ...trpc.runs.metrics.queryOptions(input),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
  const metrics = query.data;
  return (
    <>
      <PageHead title="Metrics">
        <fieldset className="flex rounded-md border border-line-strong p-0.5">
          <legend className="sr-only">Period</legend>
          {RUN_PERIODS.map((each) => (
            <button
              aria-pressed={each === period}
              className={classNames(
                "h-7 rounded px-2.5",
                each === period ? "bg-selected font-medium" : "text-muted hover:text-ink",
              )}
              key={each}
              onClick={() =>
                router.replace(`/metrics${writeFilter({ ...filter, period: each })}`, { scroll: false })
              }
              type="button"
            >
              {PERIOD_WORDS[each]}
            </button>
          ))}
        </fieldset>
      </PageHead>
      {query.isError ? (
        <Unreadable
          error={query.error}
          onRetry={() => void query.refetch()}
          what="The figures could not be read"
        />
      ) : metrics ? (
        <Figures filter={filter} metrics={metrics} />
      ) : (
        <div aria-busy="true" className="flex h-96 flex-col gap-6 px-6 py-6">
          <Bone className="w-full" />
          <Bone className="w-2/3" />
        </div>
      )}
    </>
  );
}

function Figures({ metrics, filter }: { metrics: RunMetrics; filter: RunFilter }) {
  const { total } = metrics;
  const within = { ...filter, from: metrics.from, to: metrics.to };
  const runsOf = (change: RunFilter) => `/runs${writeFilter({ ...within, ...change })}`;
  const bucketRuns = (bucket: MetricsBucket, change: RunFilter = {}) =>
    runsOf({ ...change, from: bucket.from, to: bucket.to });
  if (total.runs === 0) {
    return (
      <Empty title="No runs in this period">
        <p>Choose a longer period above, or start a run.</p>
      </Empty>
    );
  }
  const ended = total.completed + total.failed;
  return (
    <div className="flex flex-col gap-8 border-line border-t pt-4 pb-10">
      <dl className="grid grid-cols-2 gap-x-6 gap-y-4 px-4 sm:grid-cols-3 sm:px-6 lg:grid-cols-6">
        <Figure href={runsOf({})} name="Runs" value={formatCount(total.runs)} />
        <Figure
          href={runsOf({ status: ["Completed"] })}
          name="Success rate"
          value={ended === 0 ? "—" : `${((total.completed / ended) * 100).toFixed(1)} %`}
        />
        <Figure href={runsOf({ status: ["Failed"] })} name="Failed" value={formatCount(total.failed)} />
        <Figure name="Tokens" value={formatCount(total.tokens)} />
        <Figure name="Credits" value={formatCredits(total.credits)} />
        <Figure name="Duration p50 / p95" value={`${duration(total.p50)} / ${duration(total.p95)}`} />
      </dl>
      <Section title="Runs by status">
        <StatusChart hrefOf={bucketRuns} metrics={metrics} />
      </Section>
      <Section title="Duration">
        <DurationChart hrefOf={bucketRuns} metrics={metrics} />
      </Section>
      <div className="grid gap-8 lg:grid-cols-2">
        <Section title="Tokens">
          <VolumeChart
            format={formatCount}
            hrefOf={bucketRuns}
            metrics={metrics}
            name="tokens"
            measure={(bucket) => bucket.tokens}
          />
        </Section>
        <Section title="Credits">
          <VolumeChart
            format={(value) => value.toFixed(4)}
            hrefOf={bucketRuns}
            metrics={metrics}
            name="credits"
            measure={(bucket) => Number(bucket.credits)}
          />
        </Section>
      </div>
      <BucketTable hrefOf={bucketRuns} metrics={metrics} />
      <Groups
        groups={metrics.agents}
        hrefOf={(id, change) => runsOf({ ...change, agentId: id })}
        title="By agent"
      />
      <Groups
        groups={metrics.tools}
        hrefOf={(id, change) => runsOf({ ...change, toolId: id })}
        title="By tool"
      />
      <Groups
        groups={metrics.triggers}
        hrefOf={(id, change) => runsOf({ ...change, triggerId: id })}
        title="By trigger"
      />
      <Groups
        groups={metrics.keys}
        hrefOf={(id, change) => runsOf({ ...change, apiKeyId: id })}
        title="By API key"
      />
    </div>
  );
}

function Figure({ name, value, href }: { name: string; value: string; href?: string }) {
  return (
    <div>
      <dt className="text-muted">{name}</dt>
      <dd className="mt-0.5 font-semibold text-lg">
        {href ? (
          <Link className="hover:text-accent hover:underline" href={href} prefetch={false}>
            {value}
          </Link>
        ) : (
          value
        )}
      </dd>
    </div>
  );
}

function Section({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section aria-label={title} className="min-w-0">
      <h2 className="px-4 pb-2 font-medium sm:px-6">{title}</h2>
      <div className="px-4 sm:px-6">{children}</div>
    </section>
  );
}

/** The charts' numbers, newest first; bars without runs are left out. */
function BucketTable({
  metrics,
  hrefOf,
}: {
  metrics: RunMetrics;
  hrefOf: (bucket: MetricsBucket, change?: RunFilter) => string;
}) {
  const timeZone = useTimeZone();
  const buckets = metrics.buckets.filter((bucket) => bucket.runs > 0).reverse();
  return (
    <section aria-label="Over time">
      <h2 className="px-4 pb-2 font-medium sm:px-6">Over time</h2>
      <FiguresTable
        first="From"
        label="Figures over time"
        rows={buckets.map((bucket) => ({
          key: bucket.from,
          name: bucketLabel(bucket, metrics.bucketMs, timeZone),
          figures: bucket,
          hrefOf: (change) => hrefOf(bucket, change),
        }))}
      />
    </section>
  );
}

function Groups({
  title,
  groups,
  hrefOf,
}: {
  title: string;
  groups: MetricsGroup[];
  hrefOf: (id: string, change: RunFilter) => string;
}) {
  if (groups.length === 0) return null;
  return (
    <section aria-label={title}>
      <h2 className="px-4 pb-2 font-medium sm:px-6">{title}</h2>
      <FiguresTable
        first="Name"
        label={title}
        rows={groups.map((group) => ({
          key: group.id,
          name: group.name,
          figures: group,
          hrefOf: (change) => hrefOf(group.id, change),
        }))}
      />
    </section>
  );
}

type FiguresRow = { key: string; name: string; figures: RunFigures; hrefOf: (change: RunFilter) => string };

function FiguresTable({ label, first, rows }: { label: string; first: string; rows: FiguresRow[] }) {
  return (
    // A wide table is the one thing that may scroll sideways here; it must be reachable by keyboard then.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to take the focus.
    <section aria-label={`${label}, table`} className="overflow-x-auto" tabIndex={0}>
      <Table className="min-w-[60rem] table-fixed" label={label}>
        <thead>
          <tr>
            <HeadCell className="w-56">{first}</HeadCell>
            {[
              "Runs",
              "Completed",
              "Failed",
              "Cancelled",
              "Open",
              "Success",
              "Tokens",
              "Credits",
              "p50",
              "p95",
            ].map((name) => (
              <HeadCell className="text-right" key={name}>
                {name}
              </HeadCell>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, name, figures, hrefOf }) => {
            const ended = figures.completed + figures.failed;
            return (
              <tr className="hover:bg-hover" key={key}>
                <Cell className="truncate">{name}</Cell>
                <CountCell href={hrefOf({})} value={figures.runs} />
                <CountCell href={hrefOf({ status: ["Completed"] })} value={figures.completed} />
                <CountCell href={hrefOf({ status: ["Failed"] })} value={figures.failed} />
                <CountCell href={hrefOf({ status: ["Cancelled"] })} value={figures.cancelled} />
                <CountCell href={hrefOf({ status: ["Pending", "Running"] })} value={figures.open} />
                <NumberCell>
                  {ended === 0 ? "—" : `${((figures.completed / ended) * 100).toFixed(1)} %`}
                </NumberCell>
                <NumberCell>{formatCount(figures.tokens)}</NumberCell>
                <NumberCell>{formatCredits(figures.credits)}</NumberCell>
                <NumberCell>{duration(figures.p50)}</NumberCell>
                <NumberCell>{duration(figures.p95)}</NumberCell>
              </tr>
            );
          })}
        </tbody>
      </Table>
    </section>
  );
}

function CountCell({ value, href }: { value: number; href: string }) {
  return (
    <Cell className="text-right">
      {value === 0 ? (
        <span className="text-faint">0</span>
      ) : (
        <Link className="hover:text-accent hover:underline" href={href} prefetch={false}>
          {formatCount(value)}
        </Link>
      )}
    </Cell>
  );
}

function NumberCell({ children }: { children: React.ReactNode }) {
  return <Cell className="whitespace-nowrap text-right text-muted">{children}</Cell>;
}

function duration(ms: number | null): string {
  return ms === null ? "—" : formatDuration(ms);
}
