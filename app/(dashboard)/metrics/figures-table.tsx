import type { ReactNode } from "react";
import { formatCount, formatCredits, formatDuration, NONE } from "@/app/_ui/figures/format";
import { Link } from "@/app/_ui/link";
import { Cell, HeadCell, Table } from "@/app/_ui/table";
import type { RunFilter } from "@/server/runs/read/filter";
import type { RunFigures } from "@/server/runs/read/metrics/figures";
import { ended, SuccessRate } from "../_definitions/rates";
import { figureFilters } from "./figure-filter";

type Row = {
  key: string;
  name: string;
  href: string;
  figures: RunFigures;
  /** The URL of the row's runs with one more condition. */
  hrefOf: (change: RunFilter) => string;
};

type Column = {
  field: keyof ReturnType<typeof figureFilters>;
  name: string;
  /** Hides some columns on small screens. */
  className: string;
  muted?: boolean;
  /** Null: there is nothing to show, and no run behind it. */
  show: (figures: RunFigures) => ReactNode;
};

const count = (field: "runs" | "completed" | "failed" | "cancelled" | "open" | "tokens") => ({
  field,
  show: ({ [field]: number }: RunFigures) => (number === 0 ? null : formatCount(number)),
});
const duration = (field: "p50" | "p95") => ({
  field,
  name: field,
  muted: true,
  show: ({ [field]: ms }: RunFigures) => (ms === null ? null : formatDuration(ms)),
});

const COLUMNS: readonly Column[] = [
  { ...count("runs"), name: "Runs", className: "max-md:w-[13%]" },
  { ...count("completed"), name: "Completed", className: "max-xl:hidden" },
  { ...count("failed"), name: "Failed", className: "max-md:w-[13%]" },
  { ...count("cancelled"), name: "Cancelled", className: "max-xl:hidden" },
  { ...count("open"), name: "Open", className: "max-xl:hidden" },
  {
    field: "success",
    name: "Success",
    className: "",
    muted: true,
    show: (figures) => (ended(figures) === 0 ? null : <SuccessRate of={figures} />),
  },
  { ...count("tokens"), name: "Tokens", className: "max-md:hidden", muted: true },
  {
    field: "credits",
    name: "Credits",
    className: "max-md:hidden",
    muted: true,
    show: ({ credits }) => (Number(credits) === 0 ? null : formatCredits(credits, 2)),
  },
  { ...duration("p50"), className: "max-xl:hidden" },
  { ...duration("p95"), className: "" },
];

const LINK = "-mx-1 px-1 hover:text-accent hover:underline";

/** Figures in rows, each linked to the runs behind it. Narrow screens show the most important columns. */
export function FiguresTable({ label, first, rows }: { label: string; first: string; rows: Row[] }) {
  return (
    <Table className="table-fixed" label={label}>
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
      {COLUMNS.map(({ field, className, muted, show }) => {
        const shown = show(figures);
        return (
          <Cell className={`whitespace-nowrap text-right max-md:px-1 ${className}`} key={field}>
            {shown === null ? (
              <span className="text-faint">{NONE}</span>
            ) : (
              <Link className={muted ? `text-muted ${LINK}` : LINK} href={hrefOf(behind[field])}>
                {shown}
              </Link>
            )}
          </Cell>
        );
      })}
    </tr>
  );
}
