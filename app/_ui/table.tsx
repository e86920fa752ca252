import clsx from "clsx";
import { Fragment, type ReactNode, type Ref, type TdHTMLAttributes, type ThHTMLAttributes } from "react";
import { ChevronDownIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";
import { OpeningRow } from "@/app/_ui/opening-row";
import { SkeletonLine } from "@/app/_ui/page/page";

type TableProps = { label: string; className: string; busy: boolean | undefined; children: ReactNode };

function Table({ label, className, busy = false, children }: TableProps) {
  return (
    <div className="@container">
      <table
        aria-busy={busy}
        aria-label={label}
        className={clsx("w-full border-line border-t text-left", className)}
      >
        {children}
      </table>
    </div>
  );
}

function HeadCell({ className, ...props }: ThHTMLAttributes<HTMLTableCellElement>) {
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

const CELL = "h-10 border-line border-b px-3 py-1 first:pl-4 last:pr-4 sm:first:pl-6 sm:last:pr-6";

function Cell({ className, ...props }: TdHTMLAttributes<HTMLTableCellElement>) {
  return <td className={clsx(CELL, className)} {...props} />;
}

function RowHead({ className, ...props }: ThHTMLAttributes<HTMLTableCellElement>) {
  return <th className={clsx(CELL, "text-left font-normal", className)} scope="row" {...props} />;
}

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
  start: `${STACKED} max-md:basis-1/2 max-md:grow`,
  share: `${STACKED} max-md:flex-1`,
  end: `${STACKED} max-md:ml-auto`,
  last: `${STACKED} max-md:order-last max-md:ml-auto`,
  lastStart: `${STACKED} max-md:order-1 max-md:basis-1/2 max-md:grow`,
  none: "max-md:hidden",
  wide: "max-lg:hidden",
  wider: "max-xl:hidden",
  widest: "max-2xl:hidden",
  lineOrWide: `${STACKED} max-md:basis-full md:max-lg:hidden`,
  action: `${STACKED} relative z-10 text-right max-md:-my-1 max-md:order-last`,
};
type Area = keyof typeof CELL_CLASSES;
const HEAD_CLASSES: Partial<Record<Area, string>> = {
  none: CELL_CLASSES.none,
  wide: CELL_CLASSES.wide,
  wider: CELL_CLASSES.wider,
  widest: CELL_CLASSES.widest,
  lineOrWide: CELL_CLASSES.wide,
};

const HIDDEN_BELOW: Partial<Record<Area, number>> = { wide: 1, wider: 2, widest: 3, lineOrWide: 1 };
/** By the width below which all columns after it are hidden, so that the last visible one has the margin. */
const END_MARGINS = ["", "md:max-lg:pr-6", "md:max-xl:pr-6", "md:max-2xl:pr-6"];

function endMargin(columns: readonly { area: Area }[], index: number): string | undefined {
  const later = columns.slice(index + 1).map(({ area }) => HIDDEN_BELOW[area] ?? 0);
  return END_MARGINS[later.length === 0 ? 0 : Math.min(...later)];
}

const LOOKS = {
  muted: "whitespace-nowrap text-muted",
  cut: "truncate text-muted",
  line: "whitespace-nowrap",
  figure: "whitespace-nowrap text-right",
  wrap: "[overflow-wrap:anywhere]",
};

/**
 * A column of a `LineList`. `area`: the cell's position on a phone. `wide`, `wider` and `widest` cells appear on
 * wide screens only, `lineOrWide` cells also on phones. An `action` cell works apart from the row's link; its head
 * is only read out.
 */
export type LineColumn<Line> = {
  head: string;
  width?: string;
  area: Area;
  look?: keyof typeof LOOKS;
  sort?: Sort;
  title?: string;
  phoneOnly?: boolean;
  cell: (line: Line) => ReactNode;
};

export type LineListProps<Line> = {
  label: string;
  columns: readonly LineColumn<Line>[];
  /** Null while they load. */
  lines: readonly Line[] | null;
  keyOf: (line: Line) => string;
  menu?: false | ((line: Line) => ReactNode);
  /** Null: the row does not open. Its first cell becomes the button. */
  detailsOf?: (line: Line) => ReactNode;
  isSelected?: (line: Line) => boolean;
  /** Stands over the first row without moving it, and stays below the head of the list. */
  notice?: ReactNode;
  /** The heading above a line; null for none. */
  headingOf?: (line: Line) => ReactNode;
  isNested?: (line: Line) => boolean;
  empty?: ReactNode;
  isStale?: boolean;
  form?: "rows" | "table";
  inset?: boolean;
  hideHeads?: boolean;
  bodyRef?: Ref<HTMLTableSectionElement>;
};

/** A list whose rows show the same columns of each line. On a phone a row has two lines: the name, then the others. */
export function LineList<Line>(props: LineListProps<Line>) {
  const { label, lines, keyOf, menu = false, detailsOf, isSelected, isNested, empty, inset, bodyRef } = props;
  if (lines?.length === 0 && empty !== undefined) return empty;
  const columns: typeof props.columns = menu
    ? [...props.columns, { head: "Actions", width: "w-14", area: "action", cell: menu }]
    : props.columns;
  const isRows = props.form !== "table";
  const side = inset && "first:pl-0! last:pr-0!";
  const rowClass = clsx(isRows && STACKED_ROW, inset ? "align-baseline *:py-2" : ROW);
  const margins = columns.map((_, index) => !inset && endMargin(columns, index));
  const cellClass = ({ area, look, phoneOnly }: (typeof columns)[number], index: number) =>
    clsx(
      isRows ? CELL_CLASSES[area] : HEAD_CLASSES[area],
      look && LOOKS[look],
      phoneOnly && "md:hidden",
      margins[index],
      side,
    );
  const cellsOf = (draw: (column: (typeof columns)[number], index: number) => ReactNode) =>
    columns.map((column, index) =>
      index === 0 ? (
        <RowHead className={cellClass(column, index)} key={column.head}>
          {draw(column, index)}
        </RowHead>
      ) : (
        <Cell className={cellClass(column, index)} key={column.head}>
          {draw(column, index)}
        </Cell>
      ),
    );
  return (
    <Table
      busy={lines === null || props.isStale}
      className={clsx("table-fixed", isRows && "max-md:block", props.isStale && "opacity-60")}
      label={label}
    >
      <thead className={clsx(isRows && "max-md:hidden")}>
        <tr>
          {columns.map(({ head, width, area, look, sort, title, phoneOnly }, index) => (
            <HeadCell
              aria-sort={sort?.sorted ? "descending" : undefined}
              className={clsx(
                width,
                HEAD_CLASSES[area],
                look === "figure" && "text-right",
                phoneOnly && "md:hidden",
                margins[index],
                side,
                // They still set the widths.
                props.hideHeads && "h-0! py-0! shadow-none!",
              )}
              key={head}
              title={title}
            >
              {props.hideHeads || area === "action" ? (
                <span className="sr-only">{head}</span>
              ) : sort ? (
                <SortLink sort={sort}>{head}</SortLink>
              ) : (
                head
              )}
            </HeadCell>
          ))}
        </tr>
      </thead>
      <tbody className={clsx(isRows && "max-md:block")} ref={bodyRef}>
        {props.notice ? (
          <tr className="max-md:block">
            <td className="sticky top-12 z-20 h-0 p-0 max-md:block md:top-8">
              <div className="absolute top-0 left-0 w-[100cqw]">{props.notice}</div>
            </td>
          </tr>
        ) : null}
        {lines === null
          ? SKELETON_WIDTHS.map((width) => (
              <tr className={rowClass} key={width}>
                {cellsOf((_, index) => (
                  <SkeletonLine className={clsx("max-w-full", index === 0 ? width : "w-16")} />
                ))}
              </tr>
            ))
          : lines.map((line) => {
              const details = detailsOf?.(line) ?? null;
              const className = clsx(
                rowClass,
                isNested?.(line) && "bg-surface",
                isSelected?.(line) && "bg-selected!",
              );
              const heading = props.headingOf?.(line) ?? null;
              return (
                <Fragment key={keyOf(line)}>
                  {heading === null ? null : <HeadingRow>{heading}</HeadingRow>}
                  {details === null ? (
                    <tr className={className}>{cellsOf(({ cell }) => cell(line))}</tr>
                  ) : (
                    <OpeningRow className={className} details={details}>
                      {(button) =>
                        cellsOf(({ cell }, index) => (index === 0 ? button(cell(line)) : cell(line)))
                      }
                    </OpeningRow>
                  )}
                </Fragment>
              );
            })}
      </tbody>
    </Table>
  );
}

/** It spans no columns: with hidden ones among them, the shown ones would not fill the table. */
function HeadingRow({ children }: { children: ReactNode }) {
  return (
    <tr className="relative max-md:block">
      <th className="h-8 p-0 max-md:block" scope="rowgroup">
        <div className="absolute inset-0 flex items-center whitespace-nowrap border-line border-b bg-surface px-4 text-left font-normal text-muted text-xs sm:px-6">
          {children}
        </div>
      </th>
    </tr>
  );
}

const ROW = "group relative hover:bg-hover has-[a:focus-visible]:bg-hover max-md:px-4";
const STACKED_ROW =
  "max-md:flex max-md:flex-wrap max-md:items-center max-md:gap-x-3 max-md:border-line max-md:border-b max-md:py-2";
const SKELETON_WIDTHS = ["w-40", "w-28", "w-48", "w-32", "w-44", "w-24", "w-36", "w-52"];
