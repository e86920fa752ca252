import { Figure, Figures, Sparkline } from "@/app/_ui/figures/figures";
import { NONE } from "@/app/_ui/figures/format";
import { Link } from "@/app/_ui/link";
import type { RunFilter } from "@/server/runs/read/find/filter";
import type { RunFigures } from "@/server/runs/read/metrics/figures";
import type { RunMetrics } from "@/server/runs/read/metrics/metrics";
import { ended } from "../runs/rates";
import { compareFigure, type KeyFigure } from "./compare";
import { figureFilters, formatFigure } from "./figures";

/** Null: nothing to measure. */
type Measure = { name: string; figure: KeyFigure; read: (figures: RunFigures) => number | null };

const MEASURES: readonly Measure[] = [
  { name: "Runs", figure: "runs", read: ({ runs }) => runs },
  {
    name: "Success rate",
    figure: "success",
    read: (figures) => (ended(figures) === 0 ? null : figures.completed / ended(figures)),
  },
  ...(["p50", "p95"] as const).map(
    (figure): Measure => ({
      name: `Duration ${figure}`,
      figure,
      read: (figures) => figures[figure],
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
      {MEASURES.map(({ name, figure, read }) => (
        <Figure
          key={name}
          name={name}
          note={
            <span className="flex min-h-6.5 items-center justify-between gap-2">
              <span
                className="whitespace-nowrap font-medium text-ink"
                title="Compared with the period before"
              >
                {compareFigure(figure, before, total)}
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
      ))}
    </Figures>
  );
}
