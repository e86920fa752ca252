import clsx from "clsx";
import type { ReactNode } from "react";
import { formatCredits, NONE } from "@/app/_ui/figures/format";
import { Link } from "@/app/_ui/link";
import { type LineColumn, LineList } from "@/app/_ui/table";
import type { RunFilter } from "@/server/runs/read/find/filter";
import type { RunFigures } from "@/server/runs/read/metrics/figures";
import { SuccessRate } from "../runs/rates";
import { type FigureName, figureFilters, formatFigure } from "./figures";

type Row = {
  key: string;
  name: string;
  href: string;
  figures: RunFigures;
  hrefOf: (change: RunFilter) => string;
};

const LINK = "-mx-1 px-1 hover:text-accent hover:underline";
/** Two links above each other, large enough for a finger. */
const FIGURE_LINK = clsx(LINK, "inline-block leading-6");

const figureColumn = (figure: FigureName, head: string, column: Figure): LineColumn<Row> => ({
  head,
  look: "figure",
  area: column.area ?? "share",
  ...(column.width === undefined ? {} : { width: column.width }),
  cell: ({ figures, hrefOf }) => {
    const shown = formatFigure(figure, figures);
    if (shown === null) return <span className="text-faint">{NONE}</span>;
    return (
      <Link
        className={clsx(FIGURE_LINK, column.muted && "text-muted", column.wraps && "whitespace-normal")}
        href={hrefOf(figureFilters(figures)[figure])}
      >
        {figure === "success" ? <SuccessRate of={figures} /> : column.wraps ? joinUnits(shown) : shown}
      </Link>
    );
  },
});

/** A long duration wraps between its parts, but no number is apart from its unit. */
const joinUnits = (duration: string) => duration.replaceAll(/(\d) (?=\D)/g, "$1\u00a0");

type Figure = { area?: LineColumn<Row>["area"]; width?: string; muted?: boolean; wraps?: boolean };

const withSecondLine = (column: LineColumn<Row>, second: (row: Row) => ReactNode): LineColumn<Row> => ({
  ...column,
  cell: (row) => (
    <>
      {column.cell(row)}
      <span className="block text-muted text-xs max-xl:hidden">{second(row)}</span>
    </>
  ),
});

function ChildRuns({ figures, hrefOf }: Row) {
  const shown = formatFigure("children", figures);
  if (shown === null) return null;
  return (
    <Link className={FIGURE_LINK} href={hrefOf(figureFilters(figures).children)}>
      {shown} child
    </Link>
  );
}

function CreditsWithChildren({ figures: { credits, creditsWithChildren } }: Row) {
  if (Number(creditsWithChildren) === Number(credits)) return null;
  return (
    <span title="With the runs that they called">{formatCredits(creditsWithChildren, 2)} incl. child</span>
  );
}

const FIGURES = [
  withSecondLine(figureColumn("runs", "Runs", { width: "max-md:w-[15%]" }), ChildRuns),
  figureColumn("completed", "Completed", { area: "wider" }),
  figureColumn("failed", "Failed", { width: "max-md:w-[17%]" }),
  figureColumn("cancelled", "Cancelled", { area: "wider" }),
  figureColumn("open", "Open", { area: "wider" }),
  figureColumn("success", "Success", { muted: true }),
  figureColumn("tokens", "Tokens", { area: "none", muted: true }),
  withSecondLine(
    figureColumn("credits", "Credits", { area: "none", muted: true, width: "xl:w-32" }),
    CreditsWithChildren,
  ),
  figureColumn("p50", "p50", { area: "wider", muted: true, wraps: true }),
  figureColumn("p95", "p95", { muted: true, wraps: true, width: "max-md:w-[21%]" }),
];

type FiguresSectionProps = {
  title: string;
  children?: ReactNode;
  first: string;
  rows: Row[];
};

/**
 * Figures in rows, each linked to the runs behind it; nothing if there are none. Narrow screens show the most important
 * columns.
 */
export function FiguresSection({ title, children, first, rows }: FiguresSectionProps) {
  if (rows.length === 0) return null;
  return (
    <section aria-label={title}>
      <h2 className="px-4 pb-2 font-semibold sm:px-6">
        {title}
        {children}
      </h2>
      <LineList
        columns={[nameColumn(first), ...FIGURES]}
        form="table"
        keyOf={({ key }) => key}
        label={title}
        lines={rows}
      />
    </section>
  );
}

const nameColumn = (head: string): LineColumn<Row> => ({
  head,
  width: "w-[29%] md:w-[32%] xl:w-40",
  area: "line",
  look: "line",
  cell: ({ name, href }) => (
    <Link className={clsx("block truncate", LINK)} href={href} title={name}>
      {name}
    </Link>
  ),
});
