import Link from "next/link";
import { formatCount, formatCredits, formatDuration, formatShare } from "@/app/_ui/format";
import { Cell, HeadCell, Table } from "@/app/_ui/table";
import type { RunFilter } from "@/server/runs/filter";
import type { RunFigures } from "@/server/runs/metrics";
import { runsBehind } from "./runs-behind";

type Row = {
  key: string;
  name: string;
  /** Where the name leads. */
  href: string;
  figures: RunFigures;
  /** The row's runs with one more condition. */
  hrefOf: (change: RunFilter) => string;
};

const COUNTS = ["runs", "completed", "failed", "cancelled", "open"] as const;
const COLUMNS = [
  "Runs",
  "Completed",
  "Failed",
  "Cancelled",
  "Open",
  "Success",
  "Tokens",
  "Credits",
  "p50",
  "p95",
];

/** Figures in rows, each a link to the runs behind it. */
export function FiguresTable({ label, first, rows }: { label: string; first: string; rows: Row[] }) {
  return (
    // A wide table is the one thing that may scroll sideways here; it must be reachable by keyboard then.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to take the focus.
    <section aria-label={`${label}, table`} className="overflow-x-auto" tabIndex={0}>
      <Table className="min-w-[60rem] table-fixed" label={label}>
        <thead>
          <tr>
            <HeadCell className="w-56">{first}</HeadCell>
            {COLUMNS.map((name) => (
              <HeadCell className="text-right" key={name}>
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
  const { completed, failed, tokens, credits, p50, p95 } = figures;
  const behind = runsBehind(figures);
  return (
    <tr className="hover:bg-hover">
      <Cell className="truncate">
        <Link className={LINK} href={href} prefetch={false} title={name}>
          {name}
        </Link>
      </Cell>
      {COUNTS.map((field) => (
        <FigureCell href={hrefOf(behind[field])} key={field} nothing={figures[field] === 0}>
          {formatCount(figures[field])}
        </FigureCell>
      ))}
      <FigureCell href={hrefOf(behind.success)} muted nothing={completed + failed === 0}>
        {formatShare(completed, completed + failed)}
      </FigureCell>
      <FigureCell href={hrefOf(behind.tokens)} muted nothing={tokens === 0}>
        {formatCount(tokens)}
      </FigureCell>
      <FigureCell href={hrefOf(behind.credits)} muted nothing={Number(credits) === 0}>
        {formatCredits(credits)}
      </FigureCell>
      <FigureCell href={hrefOf(behind.p50)} muted nothing={p50 === null}>
        {p50 === null ? "—" : formatDuration(p50)}
      </FigureCell>
      <FigureCell href={hrefOf(behind.p95)} muted nothing={p95 === null}>
        {p95 === null ? "—" : formatDuration(p95)}
      </FigureCell>
    </tr>
  );
}

const LINK = "hover:text-accent hover:underline";

/** A figure; `nothing` leads nowhere. */
function FigureCell({
  href,
  muted = false,
  nothing,
  children,
}: {
  href: string;
  muted?: boolean;
  nothing: boolean;
  children: string;
}) {
  return (
    <Cell className="whitespace-nowrap text-right">
      {nothing ? (
        <span className="text-faint">{children}</span>
      ) : (
        <Link className={muted ? `text-muted ${LINK}` : LINK} href={href} prefetch={false}>
          {children}
        </Link>
      )}
    </Cell>
  );
}
