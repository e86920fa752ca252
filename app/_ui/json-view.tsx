"use client";

import { useDeferredValue, useMemo, useState } from "react";
import { classNames } from "@/app/_ui/class-names";
import { SearchIcon } from "@/app/_ui/icons";
import { columnsOf, keysOf, searchJson } from "@/app/_ui/json-paths";
import { JsonTable } from "@/app/_ui/json-table";
import { JsonTree, Scalar } from "@/app/_ui/json-tree";
import { PlainText } from "@/app/_ui/plain-text";
import type { Json } from "@/server/json";

/** Longer documents get a search. */
const SEARCHED_FROM = 400;

/**
 * A JSON document as a tree, or as a table where it is one; what is no JSON (or cut, so that it cannot be read) as
 * plain text. `tools`: whether to offer search and views.
 */
export function JsonView({
  text,
  cut = false,
  tools = false,
  sought = "",
}: {
  text: string;
  cut?: boolean;
  tools?: boolean;
  /** What its search begins with, if it is in the document. */
  sought?: string;
}) {
  const value = useMemo(() => (cut ? undefined : parse(text)), [text, cut]);
  if (value === undefined) return <PlainText text={text} />;
  if (typeof value === "string" && !value.startsWith("data:image/")) return <PlainText text={value} />;
  if (typeof value !== "object" || value === null) {
    return (
      <div className="mono">
        <Scalar search={null} value={value} />
      </div>
    );
  }
  if (!tools || text.length < SEARCHED_FROM) return <JsonTree search={null} value={value} />;
  return <SearchedJson sought={sought} value={value} />;
}

function SearchedJson({ value, sought: first }: { value: Json[] | { [key: string]: Json }; sought: string }) {
  const [typed, setTyped] = useState(() => (first && searchJson(value, first)?.hits ? first : ""));
  const [asTable, setAsTable] = useState(false);
  const sought = useDeferredValue(typed);
  const search = useMemo(() => searchJson(value, sought), [value, sought]);
  const table = useMemo(() => findTable(value), [value]);
  return (
    <div>
      <div className="mb-2 flex flex-wrap items-center gap-3">
        <div className="relative w-56">
          <SearchIcon className="absolute top-1.5 left-2 text-faint" />
          <input
            aria-label="Search this document"
            className="h-7 w-full rounded-md border border-line-strong bg-canvas pr-2 pl-8 placeholder:text-faint"
            onChange={(event) => setTyped(event.target.value)}
            placeholder="Search names and values"
            type="search"
            value={typed}
          />
        </div>
        <span aria-live="polite" className="text-muted text-xs">
          {search ? `${search.more ? "500 and more" : search.hits} found` : ""}
        </span>
        {table ? (
          <button
            aria-pressed={asTable}
            className={classNames(
              "ml-auto h-7 rounded-md px-2",
              asTable ? "bg-selected font-medium" : "text-muted hover:bg-hover",
            )}
            onClick={() => setAsTable(!asTable)}
            type="button"
          >
            Table
          </button>
        ) : null}
      </div>
      {asTable && table && !search ? (
        <JsonTable columns={table.columns} rows={table.rows} />
      ) : (
        <JsonTree search={search} value={value} />
      )}
    </div>
  );
}

/** The list of objects that a document is, or that is its only member. */
function findTable(value: Json[] | { [key: string]: Json }): { rows: Json[]; columns: string[] } | null {
  const [only, ...others] = Array.isArray(value) ? [] : keysOf(value);
  const list: Json =
    !Array.isArray(value) && only !== undefined && others.length === 0 ? (value[only] ?? null) : value;
  const columns = columnsOf(list);
  return columns && Array.isArray(list) ? { rows: list, columns } : null;
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
