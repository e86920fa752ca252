import { Figure, Figures, Sparkline } from "@/app/_ui/figures/figures";
import {
  formatCount,
  formatCredits,
  formatDifference,
  formatDuration,
  formatShare,
  formatUsed,
  NONE,
} from "@/app/_ui/figures/format";
import { Link } from "@/app/_ui/link";
import type { RunFilter } from "@/server/runs/read/filter";
import type { RunFigures } from "@/server/runs/read/metrics/figures";
import type { RunMetrics } from "@/server/runs/read/metrics/metrics";
import { ended } from "../_definitions/week";
import { figureFilters } from "./figure-filter";

/** A key figure: how it is read, written and compared. Null: there is nothing to measure. */
type Measure = {
  name: string;
  filter: keyof ReturnType<typeof figureFilters>;
  read: (figures: RunFigures) => number | null;
  show: (figures: RunFigures) => string;
  /** The difference in words, from a value to a later one; by default in percent. */
  compare?: (before: number, now: number) => string;
};

const MEASURES: readonly Measure[] = [
  { name: "Runs", filter: "runs", read: ({ runs }) => runs, show: ({ runs }) => formatCount(runs) },
  {
    name: "Success rate",
    filter: "success",
    read: (figures) => (ended(figures) === 0 ? null : figures.completed / ended(figures)),
    show: (figures) => formatShare(figures.completed, ended(figures)),
    compare: (before, now) => `${formatDifference((now - before) * 100, (points) => points.toFixed(1))} pt`,
  },
  ...(["p50", "p95"] as const).map(
    (field): Measure => ({
      name: `Duration ${field}`,
      filter: field,
      read: (figures) => figures[field],
      show: ({ [field]: ms }) => (ms === null ? NONE : formatDuration(ms)),
      compare: (before, now) => formatDifference(now - before, formatDuration),
    }),
  ),
  {
    name: "Tokens",
    filter: "tokens",
    read: ({ tokens }) => tokens,
    show: ({ tokens }) => formatUsed(tokens),
  },
  {
    name: "Credits",
    filter: "credits",
    read: ({ credits }) => Number(credits),
    show: ({ credits }) => (Number(credits) === 0 ? NONE : formatCredits(credits, 2)),
  },
];

export const KEY_FIGURES = MEASURES.map(({ name }) => name);

type KeyFiguresProps = { metrics: RunMetrics; hrefOf: (change: RunFilter) => string };

/** The figures of the whole period, each with its course and its change from the period before. */
export function KeyFigures({ metrics, hrefOf }: KeyFiguresProps) {
  const { total, before, buckets } = metrics;
  const behind = figureFilters(total);
  return (
    <Figures label="Key figures">
      {MEASURES.map(({ name, filter, read, show, compare = inPercent }) => {
        const [past, now] = [before.runs === 0 ? null : read(before), read(total)];
        return (
          <Figure
            key={name}
            name={name}
            note={
              <span className="flex min-h-6.5 items-center justify-between gap-2">
                <span
                  className="whitespace-nowrap font-medium text-ink"
                  title="Compared with the period before"
                >
                  {past === null || now === null ? null : compare(past, now)}
                </span>
                <Sparkline values={buckets.map(read).filter((value) => value !== null)} width={64} />
              </span>
            }
            value={
              <Link className="hover:text-accent" href={hrefOf(behind[filter])}>
                {show(total)}
              </Link>
            }
          />
        );
      })}
    </Figures>
  );
}

function inPercent(before: number, now: number): string {
  if (before === 0) return now === 0 ? "±0" : "new";
  return `${formatDifference((now / before - 1) * 100, (share) => share.toFixed(1))}%`;
}
