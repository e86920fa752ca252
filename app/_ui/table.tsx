import clsx from "clsx";
import type { ReactNode, TdHTMLAttributes, ThHTMLAttributes } from "react";
import { ChevronDownIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";

type TableProps = { label: string; className?: string; children: ReactNode };

/** A full-width table with rows of 40 px. */
export function Table({ label, className, children }: TableProps) {
  return (
    <table aria-label={label} className={clsx("w-full border-line border-t text-left", className)}>
      {children}
    </table>
  );
}

export function HeadCell({ className, ...props }: ThHTMLAttributes<HTMLTableCellElement>) {
  return (
    <th
      className={clsx(
        // Sticky while the list scrolls. The line is a shadow, since collapsed borders would scroll away.
        "sticky top-12 z-20 h-8 whitespace-nowrap bg-canvas px-3 font-normal shadow-[inset_0_-1px_var(--line)] md:top-0 text-muted text-xs first:pl-4 last:pr-4 sm:first:pl-6 sm:last:pr-6",
        className,
      )}
      scope="col"
      {...props}
    />
  );
}

export function Cell({ className, ...props }: TdHTMLAttributes<HTMLTableCellElement>) {
  return (
    <td
      className={clsx(
        "h-10 border-line border-b px-3 py-1 first:pl-4 last:pr-4 sm:first:pl-6 sm:last:pr-6",
        className,
      )}
      {...props}
    />
  );
}

/** The order that a column's head leads to. */
type Sort = { href: string; sorted: boolean };

function SortLink({ sort, children }: { sort: Sort; children: ReactNode }) {
  return (
    <Link
      className={clsx(
        "inline-flex min-h-6 min-w-6 items-center gap-0.5 hover:text-ink",
        sort.sorted && "font-medium text-ink",
      )}
      href={sort.href}
      replace
    >
      {children}
      {sort.sorted ? <ChevronDownIcon size={12} /> : null}
    </Link>
  );
}

const STACKED = "max-md:block max-md:h-auto max-md:min-w-0 max-md:border-0 max-md:p-0!";
const CELL_CLASSES = {
  line: `${STACKED} max-md:basis-full`,
  share: `${STACKED} max-md:flex-1`,
  end: `${STACKED} max-md:ml-auto`,
  last: `${STACKED} max-md:order-last max-md:ml-auto`,
  none: "max-md:hidden",
  wide: "max-lg:hidden",
  wider: "max-xl:hidden",
  lineOrWide: `${STACKED} max-md:basis-full md:max-lg:hidden`,
  action: `${STACKED} relative z-10 text-right max-md:-my-1 max-md:order-last`,
};
/** Phones show no heads. */
const HEAD_CLASSES: Partial<Record<keyof typeof CELL_CLASSES, string>> = {
  wide: CELL_CLASSES.wide,
  wider: CELL_CLASSES.wider,
  lineOrWide: CELL_CLASSES.wide,
};

const LOOKS = {
  muted: "whitespace-nowrap text-muted",
  cut: "truncate text-muted",
  line: "whitespace-nowrap",
  figure: "whitespace-nowrap text-right",
};

/**
 * A column of a `LineList`.
 *
 * `area`: the cell's position on a phone. It is its own line, a share of a line, the end of a line, the end of the last
 * line, or hidden. `wide` and `wider` cells appear on wide screens only, `lineOrWide` cells also on phones. An `action`
 * cell has a control that works apart from the row's link.
 */
export type LineColumn<Line> = {
  head: string;
  /** A class name. Without it, the column takes the remaining space. */
  width?: string;
  area: keyof typeof CELL_CLASSES;
  look?: keyof typeof LOOKS;
  sort?: Sort;
  cell: (line: Line) => ReactNode;
};

type LineListProps<Line> = {
  label: string;
  columns: readonly LineColumn<Line>[];
  /** The menu of a row, in a column of its own; false: there is none. */
  menu?: false | ((line: Line) => ReactNode);
  lines: readonly Line[];
  keyOf: (line: Line) => string;
};

/** A list whose rows show the same columns of each line. On a phone a row has two lines: the name, then the others. */
export function LineList<Line>({ label, columns: shown, menu = false, lines, keyOf }: LineListProps<Line>) {
  const columns: typeof shown = menu
    ? [...shown, { head: "", width: "w-14", area: "action", cell: menu }]
    : shown;
  return (
    <Table className="max-md:block md:table-fixed" label={label}>
      <thead className="max-md:hidden">
        <tr>
          {columns.map(({ head, width, area, look, sort }) => (
            <HeadCell
              aria-sort={sort?.sorted ? "descending" : undefined}
              className={clsx(width, HEAD_CLASSES[area], look === "figure" && "text-right")}
              key={head}
            >
              {sort ? <SortLink sort={sort}>{head}</SortLink> : head}
            </HeadCell>
          ))}
        </tr>
      </thead>
      <tbody className="max-md:block">
        {lines.map((line) => (
          <tr
            className="group relative hover:bg-hover max-md:flex max-md:flex-wrap max-md:gap-x-3 max-md:border-line max-md:border-b max-md:px-4 max-md:py-2"
            key={keyOf(line)}
          >
            {columns.map(({ head, area, look, cell }) => (
              <Cell className={clsx(CELL_CLASSES[area], look && LOOKS[look])} key={head}>
                {cell(line)}
              </Cell>
            ))}
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

type RowNameProps = { href: string; name: string; slug?: string; children?: ReactNode };

/** The row's link, the slug if it differs from the name, and their neighbours. */
export function RowName({ href, name, slug = name, children }: RowNameProps) {
  return (
    <span className="flex min-w-0 items-center gap-2">
      <Link className="min-w-0 truncate font-medium after:absolute after:inset-0" href={href} title={name}>
        {name}
      </Link>
      {slug === name ? null : <span className="mono min-w-0 shrink-[9999] truncate text-muted">{slug}</span>}
      {children}
    </span>
  );
}

/** A control beside a row's name. With a mouse, it appears with the pointer or the focus. */
export function RowControl({ children }: { children: ReactNode }) {
  return (
    <span className="relative z-10 pointer-fine:opacity-0 pointer-fine:group-hover:opacity-100 has-focus-visible:opacity-100!">
      {children}
    </span>
  );
}

/** A word beside a name, such as inactive or disabled. */
export function Badge({ children }: { children: ReactNode }) {
  return (
    <span className="shrink-0 whitespace-nowrap rounded border border-line-strong px-1.5 text-muted text-xs">
      {children}
    </span>
  );
}
