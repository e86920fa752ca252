import type { ReactNode } from "react";
import { NONE } from "@/app/_ui/figures/format";
import { Link } from "@/app/_ui/link";
import { Cell, HeadCell, Table } from "@/app/_ui/table";
import type { RunFilter } from "@/server/runs/read/filter";
import type { RunFigures } from "@/server/runs/read/metrics/figures";
import { SuccessRate } from "../_definitions/rates";
import { type FigureName, figureFilters, formatFigure } from "./figures";

type Row = {
  key: string;
  name: string;
  href: string;
  figures: RunFigures;
  /** The URL of the row's runs with one more condition. */
  hrefOf: (change: RunFilter) => string;
};

type Column = {
  figure: FigureName;
  name: string;
  /** Hides some columns on small screens. */
  className: string;
  muted?: boolean;
};

const COLUMNS: readonly Column[] = [
  { figure: "runs", name: "Runs", className: "max-md:w-[13%]" },
  { figure: "completed", name: "Completed", className: "max-xl:hidden" },
  { figure: "failed", name: "Failed", className: "max-md:w-[13%]" },
  { figure: "cancelled", name: "Cancelled", className: "max-xl:hidden" },
  { figure: "open", name: "Open", className: "max-xl:hidden" },
  { figure: "success", name: "Success", className: "", muted: true },
  { figure: "tokens", name: "Tokens", className: "max-md:hidden", muted: true },
  { figure: "credits", name: "Credits", className: "max-md:hidden", muted: true },
  { figure: "p50", name: "p50", className: "max-xl:hidden", muted: true },
  { figure: "p95", name: "p95", className: "", muted: true },
];

const LINK = "-mx-1 px-1 hover:text-accent hover:underline";

type FiguresSectionProps = {
  title: string;
  /** Shown beside the title. */
  children?: ReactNode;
  /** The head of the rows' names. */
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
      <Table className="table-fixed" label={title}>
        <thead>
          <tr>
            <HeadCell className="w-[32%] xl:w-56">{first}</HeadCell>
            {COLUMNS.map(({ name, className }) => (
              <HeadCell className={`text-right max-md:px-1 ${className}`} key={name}>
                {name}
              </HeadCell>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, ...row }) => (
            <FiguresRow key={key} {...row} />
          ))}
        </tbody>
      </Table>
    </section>
  );
}

function FiguresRow({ name, href, figures, hrefOf }: Omit<Row, "key">) {
  const behind = figureFilters(figures);
  return (
    <tr className="hover:bg-hover">
      <Cell className="truncate">
        <Link className={LINK} href={href} title={name}>
          {name}
        </Link>
      </Cell>
      {COLUMNS.map(({ figure, className, muted }) => {
        const shown = formatFigure(figure, figures);
        return (
          <Cell className={`whitespace-nowrap text-right max-md:px-1 ${className}`} key={figure}>
            {shown === null ? (
              <span className="text-faint">{NONE}</span>
            ) : (
              <Link className={muted ? `text-muted ${LINK}` : LINK} href={hrefOf(behind[figure])}>
                {figure === "success" ? <SuccessRate of={figures} /> : shown}
              </Link>
            )}
          </Cell>
        );
      })}
    </tr>
  );
}
