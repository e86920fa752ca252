import type { ReactNode } from "react";
import { useNow, useTimeZone } from "@/app/_ui/data/clock";
import { formatDate, formatPlural } from "@/app/_ui/figures/format";
import type { RunLine } from "./run-lines";

/**
 * The headings of a list's days in the reader's time zone, each above its first run. The number of runs is only known
 * if no older ones of that day can follow.
 */
export function useDayHeadings(lines: readonly RunLine[], hasOlder: boolean): (line: RunLine) => ReactNode {
  const timeZone = useTimeZone();
  const days = new Map<string, { first: string; runs: number }>();
  let oldest: string | null = null;
  for (const { id, depth, createdAt } of lines) {
    if (depth > 0) continue;
    oldest = formatDate(new Date(createdAt), timeZone);
    const day = days.get(oldest) ?? { first: id, runs: 0 };
    days.set(oldest, { ...day, runs: day.runs + 1 });
  }
  const runsOf = new Map(
    [...days].map(([day, { first, runs }]) => [first, hasOlder && day === oldest ? null : runs]),
  );
  return ({ id, createdAt }) => {
    const runs = runsOf.get(id);
    return runs === undefined ? null : <DayHeading at={createdAt} runs={runs} />;
  };
}

const DAY_MS = 86_400_000;

function DayHeading({ at, runs }: { at: string; runs: number | null }) {
  const timeZone = useTimeZone();
  const now = useNow();
  const dayOf = (time: number) => formatDate(new Date(time), timeZone);
  const date = dayOf(Date.parse(at));
  const name = date === dayOf(now) ? "Today, " : date === dayOf(now - DAY_MS) ? "Yesterday, " : "";
  const year = dayOf(now).slice(-5);
  return (
    <span>
      <span className="mr-2 font-medium text-ink">
        {name}
        {date.endsWith(year) ? date.slice(0, -5) : date}
      </span>
      {runs === null ? null : formatPlural(runs, "run")}
    </span>
  );
}
