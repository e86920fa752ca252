import { Figure, Figures, Sparkline } from "@/app/_ui/figures/figures";
import { formatCount, formatCredits, formatDuration, formatShare, NONE } from "@/app/_ui/figures/format";
import { FiguresSkeleton, ListPageSkeleton } from "@/app/_ui/page/skeletons";
import { ended } from "@/app/(dashboard)/runs/rates";
import type { WeekFigures } from "@/server/runs/read/metrics/metrics";
import { WEEK_HEADS } from "./columns";

type Line = { name: string; week: WeekFigures | null };

/** The figures of a list's items together, and the item that stands out in each. */
export function WeekTotal({ lines }: { lines: readonly Line[] }) {
  const { runs, completed, failed, credits, below, byDay } = sumOf(lines);
  const failing = highest(lines, (week) => week.failed);
  const slowest = highest(lines, (week) => week.p95 ?? 0);
  const costliest = highest(lines, (week) => Number(week.creditsWithChildren));
  return (
    <Figures label="Last 7 days">
      <Figure
        chart={<Sparkline values={byDay} />}
        name={NAMES[0]}
        note={perDay(runs, byDay.length)}
        value={runs === 0 ? NONE : formatCount(runs)}
      />
      <Figure
        name={NAMES[1]}
        note={
          failing
            ? `${formatCount(failing.value)} of ${formatCount(failed)} failures by ${failing.name}`
            : "No failures"
        }
        value={formatShare(completed, ended({ completed, failed }))}
      />
      <Figure
        name={NAMES[2]}
        note={slowest?.name ?? "No ended run"}
        value={slowest ? formatDuration(slowest.value) : NONE}
      />
      <Figure
        name={NAMES[3]}
        note={costliest ? `${below > 0 ? "Own use. " : ""}Most by ${costliest.name}` : "Nothing used"}
        value={credits === 0 ? NONE : formatCredits(credits.toFixed(4), 2)}
      />
    </Figures>
  );
}

function perDay(runs: number, days: number): string {
  if (runs === 0) return "None yet";
  return runs < days ? "Less than 1 a day" : `${formatCount(Math.round(runs / days))} a day`;
}

const NAMES = ["Runs, 7 days", "Success rate", "Slowest p95", "Credits, 7 days"] as const;

type WeekListSkeletonProps = { title: string; first: readonly string[]; last: string };

/** A list with the figures of the week while it loads; `first` and `last` are the columns beside the figures. */
export function WeekListSkeleton({ title, first, last }: WeekListSkeletonProps) {
  return (
    <ListPageSkeleton columns={[...first, ...WEEK_HEADS, last]} title={title}>
      <FiguresSkeleton label="Last 7 days" names={NAMES} />
      <div className="h-12" />
    </ListPageSkeleton>
  );
}

/**
 * `byDay` starts with the oldest day. `credits` has each run once; `below` has the credits of child runs, which may
 * be in another line.
 */
function sumOf(lines: readonly Line[]) {
  const sum = { runs: 0, completed: 0, failed: 0, credits: 0, below: 0, byDay: Array<number>(7).fill(0) };
  for (const { week } of lines) {
    if (week === null) continue;
    sum.runs += week.runs;
    sum.completed += week.completed;
    sum.failed += week.failed;
    sum.credits += Number(week.credits);
    sum.below += Number(week.creditsWithChildren) - Number(week.credits);
    for (const [day, { runs }] of week.days.entries()) sum.byDay[day] = (sum.byDay[day] ?? 0) + runs;
  }
  return sum;
}

function highest(lines: readonly Line[], read: (week: WeekFigures) => number) {
  const [first] = lines
    .map(({ name, week }) => ({ name, value: week === null ? 0 : read(week) }))
    .sort((a, b) => b.value - a.value);
  return first && first.value > 0 ? first : null;
}
