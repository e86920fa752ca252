"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatCount, formatCredits, formatShare, NONE } from "@/app/_ui/figures/format";
import { AgentIcon, ToolIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";
import { type LineColumn, LineList } from "@/app/_ui/table";
import type { MetricsBucket, RunMetrics } from "@/server/runs/read/metrics/metrics";
import { VolumeChart } from "../metrics/charts";
import { writeFilter } from "../runs/address";
import { type UsedCredits, usedCredits } from "./used-credits";

const SHOWN = 6;
const ICONS = { agent: AgentIcon, tool: ToolIcon };

export function UseOfCredits() {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.runs.metrics.queryOptions({ period: "30d" }));
  if (!data || usedCredits(data.total) === 0) return null;
  return (
    <div className="border-line border-b lg:grid lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
      <section aria-label="Use by day" className="min-w-0 px-4 pt-4 pb-5 sm:px-6">
        <h2 className="pb-2 font-semibold">Use by day</h2>
        <VolumeChart
          format={(value) => value.toFixed(2)}
          height={260}
          hrefOf={(bucket: MetricsBucket) => `/runs${writeFilter({ from: bucket.from, to: bucket.to })}`}
          measure={usedCredits}
          metrics={data}
          name="credits"
        />
      </section>
      <section aria-label="Last 30 days" className="border-line max-lg:border-t lg:border-l">
        <div className="flex min-h-12 items-center justify-between px-4 pt-2 sm:px-6">
          <h2 className="font-semibold">Last 30 days</h2>
          <span className="tabular-nums">{formatUsed(data.total)}</span>
        </div>
        <MostExpensive metrics={data} />
      </section>
    </div>
  );
}

const formatUsed = (used: UsedCredits) => formatCredits(usedCredits(used).toFixed(4), 2);

type Used = RunMetrics["agents"][number] & { kind: "agent" | "tool"; total: number };

const COLUMNS: LineColumn<Used>[] = [
  {
    head: "Agent or tool",
    area: "line",
    cell: ({ kind, id, name }) => {
      const Icon = ICONS[kind];
      return (
        <span className="flex items-center gap-2">
          <Icon className="shrink-0 text-faint" />
          <Link
            className="truncate font-medium after:absolute after:inset-0"
            href={`/metrics?period=30d&${kind}=${id}`}
          >
            {name}
          </Link>
        </span>
      );
    },
  },
  {
    head: "Credits",
    width: "w-24",
    area: "share",
    look: "figure",
    cell: formatUsed,
  },
  {
    head: "Share",
    width: "w-20",
    area: "share",
    look: "figure",
    cell: (used) => <span className="text-muted">{formatShare(usedCredits(used), used.total)}</span>,
  },
  {
    head: "Per run",
    width: "w-28",
    area: "none",
    look: "figure",
    cell: ({ runs, credits }) => (
      <span className="text-muted">
        {runs === 0 ? NONE : formatCredits((Number(credits) / runs).toFixed(4))}
      </span>
    ),
  },
];

function MostExpensive({ metrics }: { metrics: RunMetrics }) {
  const total = usedCredits(metrics.total);
  const all = [
    ...metrics.agents.map((group) => ({ ...group, kind: "agent" as const, total })),
    ...metrics.tools.map((group) => ({ ...group, kind: "tool" as const, total })),
  ].sort((a, b) => usedCredits(b) - usedCredits(a));
  return (
    <>
      <LineList
        columns={COLUMNS}
        form="table"
        keyOf={({ id }) => id}
        label="Use by agent and tool"
        lines={all.slice(0, SHOWN)}
      />
      {all.length > SHOWN ? (
        <p className="px-4 py-2.5 sm:px-6">
          <Link className="text-accent hover:underline" href="/metrics?period=30d">
            {formatCount(all.length - SHOWN)} more in the metrics
          </Link>
        </p>
      ) : null}
    </>
  );
}
