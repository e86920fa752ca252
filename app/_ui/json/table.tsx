"use client";

import clsx from "clsx";
import { type ReactNode, useContext, useMemo, useState } from "react";
import { formatCount, formatPlural } from "@/app/_ui/figures/format";
import { isContainer, isJsonObject, type Json, writeJson } from "@/server/base/json/json";
import { HorizontalScroll } from "../horizontal-scroll";
import { ChevronRightIcon } from "../icons";
import { type JsonNode, joinPath, keysOf, memberOf, sizeOf } from "./paths";
import { Copies, Marked, Scalar, SearchContext } from "./values";

/** Rows differ in height, so the table is paged, not virtualized. */
const ROWS_OF_PAGE = 100;
const LONG_CELL = 120;

type DrawNested = (value: JsonNode, path: string) => ReactNode;

type JsonTableProps = {
  list: Json[];
  columns: string[];
  path: string;
  drawNested: DrawNested;
};

/** A list of records as a table, 100 rows at a time. With a search, it shows the matching rows. */
export function JsonTable({ list, columns, path, drawNested }: JsonTableProps) {
  const search = useContext(SearchContext);
  const [wanted, setPage] = useState(0);
  const [searched, setSearched] = useState(search);
  if (searched !== search) {
    setSearched(search);
    setPage(0);
  }
  const rows = useMemo(() => {
    const all = Array.from(list.keys());
    return search ? all.filter((index) => search.paths.has(joinPath(path, String(index), true))) : all;
  }, [list, path, search]);
  const last = Math.max(0, Math.ceil(rows.length / ROWS_OF_PAGE) - 1);
  const page = Math.min(wanted, last);
  return (
    <div className="min-w-0">
      <HorizontalScroll label="Records">
        <table className="mono w-max border-collapse text-left">
          <thead>
            <tr>
              <th className="px-2 py-1 font-normal text-faint" scope="col">
                <span className="sr-only">position in the list</span>
              </th>
              {columns.map((column) => (
                <th
                  className="whitespace-nowrap border border-line bg-surface px-2 py-1 font-normal text-json-key"
                  key={column}
                  scope="col"
                >
                  <Marked text={column} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(page * ROWS_OF_PAGE, (page + 1) * ROWS_OF_PAGE).map((index) => (
              <Row
                columns={columns}
                drawNested={drawNested}
                index={index}
                key={index}
                path={joinPath(path, String(index), true)}
                record={list[index] ?? null}
              />
            ))}
          </tbody>
        </table>
      </HorizontalScroll>
      {last > 0 ? <Pages last={last} onPage={setPage} page={page} rows={rows.length} /> : null}
    </div>
  );
}

type RowProps = Omit<JsonTableProps, "list"> & { record: Json; index: number };

function Row({ record, index, columns, path, drawNested }: RowProps) {
  return (
    <tr className="group/node hover:bg-hover">
      <th className="whitespace-nowrap px-2 py-1 text-right align-top font-normal text-faint" scope="row">
        <span className="flex items-center justify-end">
          <Copies path={path} value={record} />
          {index}
        </span>
      </th>
      {isJsonObject(record) ? (
        columns.map((column) => (
          <td className="max-w-96 border border-line px-2 py-1 align-top" key={column}>
            {Object.hasOwn(record, column) ? (
              <Cell
                drawNested={drawNested}
                path={joinPath(path, column, false)}
                value={memberOf(record, column)}
              />
            ) : null}
          </td>
        ))
      ) : (
        <td className="border border-line px-2 py-1" colSpan={columns.length}>
          <Scalar value={null} />
        </td>
      )}
    </tr>
  );
}

type CellProps = { value: Json; path: string; drawNested: DrawNested };

function Cell({ value, path, drawNested }: CellProps) {
  const search = useContext(SearchContext);
  const [open, setOpen] = useState(false);
  if (!isContainer(value)) return <Scalar most={LONG_CELL} value={value} />;
  const size = keysOf(value).length;
  const unfolded = size > 0 && (open || (search?.paths.has(path) ?? false));
  return (
    <>
      <button
        aria-expanded={unfolded}
        className="flex min-h-6 max-w-full items-center gap-1 text-left text-muted"
        onClick={() => setOpen(!open)}
        type="button"
      >
        <ChevronRightIcon className={clsx("shrink-0 text-faint", unfolded && "rotate-90")} size={12} />
        <span className="truncate">{unfolded ? sizeOf(value) : startOfJson(value)}</span>
      </button>
      {unfolded ? <div className="min-w-56">{drawNested(value, path)}</div> : null}
    </>
  );
}

function startOfJson(value: JsonNode): string {
  const keys = keysOf(value);
  const first = keys.slice(0, 4).map((key) => {
    const member = memberOf(value, key);
    const word = isContainer(member) ? sizeOf(member) : writeJson(member);
    return `${Array.isArray(value) ? "" : `${key}: `}${word.length > 40 ? `${word.slice(0, 40)}…` : word}`;
  });
  const label = `${first.join(", ")}${keys.length > first.length ? ", …" : ""}`;
  return Array.isArray(value) ? `[${label}]` : `{ ${label} }`;
}

type PagesProps = { page: number; last: number; rows: number; onPage: (page: number) => void };

function Pages({ page, last, rows, onPage }: PagesProps) {
  const first = page * ROWS_OF_PAGE + 1;
  return (
    <nav aria-label="Pages of the table" className="mt-1 flex flex-wrap items-center gap-x-3 text-muted">
      <span aria-live="polite">
        {formatCount(first)}–{formatCount(Math.min(rows, first + ROWS_OF_PAGE - 1))} of{" "}
        {formatPlural(rows, "row")}
      </span>
      {(
        [
          ["First", 0],
          ["Previous", page - 1],
          ["Next", page + 1],
          ["Last", last],
        ] as const
      ).map(([name, to]) => (
        <button
          className="min-h-6 text-accent hover:underline disabled:cursor-default disabled:text-faint disabled:no-underline"
          disabled={to < 0 || to > last || to === page}
          key={name}
          onClick={() => onPage(to)}
          type="button"
        >
          {name}
        </button>
      ))}
    </nav>
  );
}
