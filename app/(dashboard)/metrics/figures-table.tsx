import type { ReactNode } from "react";
import { formatCount, formatCredits, formatDuration, NONE } from "@/app/_ui/figures/format";
import { Link } from "@/app/_ui/link";
import { Cell, HeadCell, Table } from "@/app/_ui/table";
import type { RunFilter } from "@/server/runs/read/filter";
import type { RunFigures } from "@/server/runs/read/metrics/figures";
import { SuccessRate } from "../_definitions/week";
import { figureFilters } from "./figure-filter";

type Row = {
  key: string;
  name: string;
  href: string;
  figures: RunFigures;
  /** The URL of the row's runs with one more condition. */
  hrefOf: (change: RunFilter) => string;
};

const COUNTS = ["runs", "completed", "failed", "cancelled", "open"] as const;
/** The columns, and the classes that hide some on small screens. */
const COLUMNS = {
  runs: { name: "Runs", className: "max-md:w-[13%]" },
  completed: { name: "Completed", className: "max-xl:hidden" },
  failed: { name: "Failed", className: "max-md:w-[13%]" },
  cancelled: { name: "Cancelled", className: "max-xl:hidden" },
  open: { name: "Open", className: "max-xl:hidden" },
  success: { name: "Success", className: "" },
  tokens: { name: "Tokens", className: "max-md:hidden" },
  credits: { name: "Credits", className: "max-md:hidden" },
  p50: { name: "p50", className: "max-xl:hidden" },
  p95: { name: "p95", className: "" },
};
type Column = keyof typeof COLUMNS;

/** Figures in rows, each linked to the runs behind it. Narrow screens show the most important columns. */
export function FiguresTable({ label, first, rows }: { label: string; first: string; rows: Row[] }) {
  return (
    <Table className="table-fixed" label={label}>
      <thead>
        <tr>
          <HeadCell className="w-[32%] xl:w-56">{first}</HeadCell>
          {Object.values(COLUMNS).map(({ name, className }) => (
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
  const { completed, failed, tokens, credits, p50, p95 } = figures;
  const behind = figureFilters(figures);
  return (
    <tr className="hover:bg-hover">
      <Cell className="truncate">
        <Link className={LINK} href={href} title={name}>
          {name}
        </Link>
      </Cell>
      {COUNTS.map((field) => (
        <FigureCell column={field} href={hrefOf(behind[field])} key={field} nothing={figures[field] === 0}>
          {formatCount(figures[field])}
        </FigureCell>
      ))}
      <FigureCell column="success" href={hrefOf(behind.success)} muted nothing={completed + failed === 0}>
        <SuccessRate of={figures} />
      </FigureCell>
      <FigureCell column="tokens" href={hrefOf(behind.tokens)} muted nothing={tokens === 0}>
        {formatCount(tokens)}
      </FigureCell>
      <FigureCell column="credits" href={hrefOf(behind.credits)} muted nothing={Number(credits) === 0}>
        {formatCredits(credits, 2)}
      </FigureCell>
      <FigureCell column="p50" href={hrefOf(behind.p50)} muted nothing={p50 === null}>
        {p50 === null ? NONE : formatDuration(p50)}
      </FigureCell>
      <FigureCell column="p95" href={hrefOf(behind.p95)} muted nothing={p95 === null}>
        {p95 === null ? NONE : formatDuration(p95)}
      </FigureCell>
    </tr>
  );
}

const LINK = "-mx-1 px-1 hover:text-accent hover:underline";

/** One figure; it has no link if `nothing` is set. */
function FigureCell({
  column,
  href,
  muted = false,
  nothing,
  children,
}: {
  column: Column;
  href: string;
  muted?: boolean;
  nothing: boolean;
  children: ReactNode;
}) {
  return (
    <Cell className={`whitespace-nowrap text-right max-md:px-1 ${COLUMNS[column].className}`}>
      {nothing ? (
        <span className="text-faint">{NONE}</span>
      ) : (
        <Link className={muted ? `text-muted ${LINK}` : LINK} href={href}>
          {children}
        </Link>
      )}
    </Cell>
  );
}
