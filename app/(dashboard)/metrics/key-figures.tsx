import { Figure, Figures, Sparkline } from "@/app/_ui/figures/figures";
import { formatDifference, formatDuration, NONE } from "@/app/_ui/figures/format";
import { Link } from "@/app/_ui/link";
import type { RunFilter } from "@/server/runs/read/filter";
import type { RunFigures } from "@/server/runs/read/metrics/figures";
import type { RunMetrics } from "@/server/runs/read/metrics/metrics";
import { ended } from "../_definitions/rates";
import { type FigureName, figureFilters, formatFigure } from "./figures";

/** A key figure: its value and how it is compared. Null: there is nothing to measure. */
type Measure = {
  name: string;
  figure: FigureName;
  read: (figures: RunFigures) => number | null;
  /** The difference in words, from a value to a later one; by default in percent. */
  compare?: (before: number, now: number) => string;
};

const MEASURES: readonly Measure[] = [
  { name: "Runs", figure: "runs", read: ({ runs }) => runs },
  {
    name: "Success rate",
    figure: "success",
    read: (figures) => (ended(figures) === 0 ? null : figures.completed / ended(figures)),
    compare: (before, now) => `${formatDifference((now - before) * 100, (points) => points.toFixed(1))} pt`,
  },
  ...(["p50", "p95"] as const).map(
    (figure): Measure => ({
      name: `Duration ${figure}`,
      figure,
      read: (figures) => figures[figure],
      compare: (before, now) => formatDifference(now - before, formatDuration),
    }),
  ),
  { name: "Tokens", figure: "tokens", read: ({ tokens }) => tokens },
  { name: "Credits", figure: "credits", read: ({ credits }) => Number(credits) },
];

export const KEY_FIGURES = MEASURES.map(({ name }) => name);

type KeyFiguresProps = { metrics: RunMetrics; hrefOf: (change: RunFilter) => string };

/** The figures of the whole period, each with its course and its change from the period before. */
export function KeyFigures({ metrics, hrefOf }: KeyFiguresProps) {
  const { total, before, buckets } = metrics;
  const behind = figureFilters(total);
  return (
    <Figures label="Key figures">
      {MEASURES.map(({ name, figure, read, compare = inPercent }) => {
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
              <Link className="hover:text-accent" href={hrefOf(behind[figure])}>
                {formatFigure(figure, total) ?? NONE}
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
