"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { Figure, Figures, Sparkline } from "@/app/_ui/figures/figures";
import { formatCount, formatDuration, formatShare, NONE } from "@/app/_ui/figures/format";
import { SkeletonLine } from "@/app/_ui/page/page";
import { Unreadable } from "@/app/_ui/text/unreadable";
import type { RunFigures } from "@/server/runs/read/metrics/figures";
import { type WeekSubject, weekQuery } from "./query";
import { creditsPerRun, ended, formatPerRun } from "./week";

/** A figure: its value of the week, and of each day for its course. */
const FIGURES: {
  name: string;
  show: (week: RunFigures) => string;
  read: (day: RunFigures) => number | null;
}[] = [
  {
    name: "Runs, 7 days",
    show: ({ runs }) => (runs === 0 ? NONE : formatCount(runs)),
    read: ({ runs }) => runs,
  },
  {
    name: "Success rate",
    show: (week) => formatShare(week.completed, ended(week)),
    read: (day) => (ended(day) === 0 ? null : day.completed / ended(day)),
  },
  {
    name: "Duration p95",
    show: ({ p95 }) => (p95 === null ? NONE : formatDuration(p95)),
    read: ({ p95 }) => p95,
  },
  { name: "Credits per run", show: formatPerRun, read: creditsPerRun },
];

/** The key figures of an agent, tool or trigger in the last seven days, each with its course by day. */
export function WeekOf({ of, narrow = false }: { of: WeekSubject; narrow?: boolean }) {
  const trpc = useTRPC();
  const query = useQuery(weekQuery(trpc, of));
  if (query.isError) return <Unreadable query={query} what="The figures could not be read" />;
  const { total, buckets = [] } = query.data ?? {};
  return (
    <Figures className={narrow ? "border-t-0" : undefined} label="Last 7 days" narrow={narrow}>
      {FIGURES.map(({ name, show, read }) => (
        <Figure
          chart={<Sparkline values={buckets.map(read).filter((value) => value !== null)} width={44} />}
          key={name}
          name={name}
          value={total ? show(total) : <SkeletonLine className="w-14" />}
        />
      ))}
    </Figures>
  );
}
