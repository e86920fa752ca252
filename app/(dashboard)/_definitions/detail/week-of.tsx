"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { Figure, Figures, Sparkline } from "@/app/_ui/figures/figures";
import { formatCount, formatDuration, formatShare, NONE } from "@/app/_ui/figures/format";
import { SkeletonLine } from "@/app/_ui/page/page";
import { Unreadable } from "@/app/_ui/text/unreadable";
import { creditsPerRun, ended, formatPerRun, formatPerRunWithChildren } from "@/app/(dashboard)/runs/rates";
import type { RunFigures } from "@/server/runs/read/metrics/figures";
import { type WeekSubject, weekQuery } from "../../runs/query";

/** The key figures of an agent, tool or trigger in the last seven days, each with its course by day. */
export function WeekOf({ of, narrow = false }: { of: WeekSubject; narrow?: boolean }) {
  const trpc = useTRPC();
  const query = useQuery(weekQuery(trpc, of));
  if (query.isError) {
    return <Unreadable query={query} what="Could not load the figures" />;
  }
  const total = query.data?.total;
  const days = query.data?.buckets ?? [];
  const line = (read: (day: RunFigures) => number | null) => (
    <Sparkline values={days.map(read).filter((value) => value !== null)} width={44} />
  );
  const show = (view: (total: RunFigures) => string) =>
    total ? view(total) : <SkeletonLine className="w-14" />;
  return (
    <Figures className={narrow ? "border-t-0" : undefined} label="Last 7 days" narrow={narrow}>
      <Figure
        chart={line(({ runs }) => runs)}
        name="Runs, 7 days"
        value={show(({ runs }) => (runs === 0 ? NONE : formatCount(runs)))}
      />
      <Figure
        chart={line((day) => (ended(day) === 0 ? null : day.completed / ended(day)))}
        name="Success rate"
        value={show((all) => formatShare(all.completed, ended(all)))}
      />
      <Figure
        chart={line(({ p95 }) => p95)}
        name="Duration p95"
        value={show(({ p95 }) => (p95 === null ? NONE : formatDuration(p95)))}
      />
      <Figure
        chart={line(creditsPerRun)}
        name="Credits per run"
        note={
          total && Number(total.creditsWithChildren) > Number(total.credits)
            ? `${formatPerRunWithChildren(total)} with child runs`
            : undefined
        }
        value={show(formatPerRun)}
      />
    </Figures>
  );
}
