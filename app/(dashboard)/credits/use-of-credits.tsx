"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatCount, formatCredits, formatShare, NONE } from "@/app/_ui/figures/format";
import { AgentIcon, ToolIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";
import { Cell, HeadCell, Table } from "@/app/_ui/table";
import type { MetricsBucket, RunMetrics } from "@/server/runs/read/metrics/metrics";
import { VolumeChart } from "../metrics/charts";
import { writeFilter } from "../runs/address";

const SHOWN = 6;
const ICONS = { agent: AgentIcon, tool: ToolIcon };

/** What the credits of the last 30 days were used for: a bar a day, and the agents and tools that used most. */
export function UseOfCredits() {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.runs.metrics.queryOptions({ period: "30d" }));
  if (!data || Number(data.total.credits) === 0) return null;
  return (
    <div className="border-line border-b lg:grid lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
      <section aria-label="Use by day" className="min-w-0 px-4 pt-4 pb-5 sm:px-6">
        <h2 className="pb-2 font-semibold">Use by day</h2>
        <VolumeChart
          format={(value) => value.toFixed(2)}
          height={260}
          hrefOf={(bucket: MetricsBucket) => `/runs${writeFilter({ from: bucket.from, to: bucket.to })}`}
          measure={(bucket) => Number(bucket.credits)}
          metrics={data}
          name="credits"
        />
      </section>
      <section aria-label="Last 30 days" className="border-line max-lg:border-t lg:border-l">
        <div className="flex min-h-12 items-center justify-between px-4 pt-2 sm:px-6">
          <h2 className="font-semibold">Last 30 days</h2>
          <span className="tabular-nums">{formatCredits(data.total.credits, 2)}</span>
        </div>
        <MostExpensive metrics={data} />
      </section>
    </div>
  );
}

function MostExpensive({ metrics }: { metrics: RunMetrics }) {
  const all = [
    ...metrics.agents.map((group) => ({ ...group, kind: "agent" as const })),
    ...metrics.tools.map((group) => ({ ...group, kind: "tool" as const })),
  ].sort((a, b) => Number(b.credits) - Number(a.credits));
  const total = Number(metrics.total.credits);
  return (
    <Table label="Use by agent and tool">
      <thead>
        <tr>
          <HeadCell className="w-full">Agent or tool</HeadCell>
          <HeadCell className="text-right">Credits</HeadCell>
          <HeadCell className="text-right">Share</HeadCell>
          <HeadCell className="text-right max-sm:hidden">Per run</HeadCell>
        </tr>
      </thead>
      <tbody>
        {all.slice(0, SHOWN).map(({ kind, id, name, runs, credits }) => {
          const Icon = ICONS[kind];
          return (
            <tr className="relative hover:bg-hover" key={id}>
              <Cell className="max-w-0">
                <span className="flex items-center gap-2">
                  <Icon className="shrink-0 text-faint" />
                  <Link
                    className="truncate font-medium after:absolute after:inset-0"
                    href={`/metrics?period=30d&${kind}=${id}`}
                  >
                    {name}
                  </Link>
                </span>
              </Cell>
              <Cell className="text-right">{formatCredits(credits, 2)}</Cell>
              <Cell className="whitespace-nowrap text-right text-muted">
                {formatShare(Number(credits), total)}
              </Cell>
              <Cell className="text-right text-muted max-sm:hidden">
                {runs === 0 ? NONE : formatCredits((Number(credits) / runs).toFixed(4))}
              </Cell>
            </tr>
          );
        })}
        {all.length > SHOWN ? (
          <tr>
            <Cell className="text-muted" colSpan={4}>
              <Link className="text-accent hover:underline" href="/metrics?period=30d">
                {formatCount(all.length - SHOWN)} more in the metrics
              </Link>
            </Cell>
          </tr>
        ) : null}
      </tbody>
    </Table>
  );
}
