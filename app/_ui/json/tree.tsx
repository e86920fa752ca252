"use client";

import clsx from "clsx";
import { memo, type ReactNode, useContext, useMemo, useState } from "react";
import { formatPlural } from "@/app/_ui/figures/format";
import { isContainer, type Json } from "@/server/base/json/json";
import { ChevronRightIcon } from "../icons";
import { type JsonNode, joinPath, keysOf, memberOf, sizeOf } from "./paths";
import { type Records, readRecords } from "./records";
import { JsonTable } from "./table";
import { Copies, Marked, Scalar, SearchContext } from "./values";

const CHILDREN_AT_ONCE = 100;
const OPEN_DEPTH = 2;

function useTable(value: JsonNode, what: string) {
  const records = useMemo(() => readRecords(value), [value]);
  const [asTable, setAsTable] = useState(records?.readsBetter ?? false);
  const button = records ? (
    <button
      aria-label={`Show ${what} as a table`}
      aria-pressed={asTable}
      className={clsx(
        "min-h-6 shrink-0 rounded px-1.5 font-sans text-xs",
        asTable ? "bg-selected text-ink" : "text-muted hover:bg-selected hover:text-ink",
      )}
      onClick={() => setAsTable(!asTable)}
      type="button"
    >
      Table
    </button>
  ) : null;
  return { records: asTable ? records : null, button };
}

/**
 * A JSON value as a collapsible tree, in which lists of records are tables. With a search, it shows only the paths to
 * hits.
 */
export function JsonTree({ value }: { value: JsonNode }) {
  const { records, button } = useTable(value, "the document");
  return (
    <div className="mono leading-6">
      {button ? (
        <p className="mb-1 flex justify-between gap-2 text-muted">
          {formatPlural(keysOf(value).length, "record")}
          {button}
        </p>
      ) : null}
      <Members depth={0} path="" records={records} value={value} />
    </div>
  );
}

type ChildrenProps = { value: JsonNode; path: string; depth: number };

function Members({ records, ...props }: ChildrenProps & { records: Records | null }) {
  const { value, path, depth } = props;
  if (!records || !Array.isArray(value)) return <Children {...props} />;
  return (
    <JsonTable
      columns={records.columns}
      drawNested={(nested, way) => <Children depth={depth + 2} path={way} value={nested} />}
      list={value}
      path={path}
    />
  );
}

const Children = memo(function Children({ value, path, depth }: ChildrenProps) {
  const search = useContext(SearchContext);
  const [shown, setShown] = useState(CHILDREN_AT_ONCE);
  const isArray = Array.isArray(value);
  const all = keysOf(value);
  const keys = search ? all.filter((key) => search.paths.has(joinPath(path, key, isArray))) : all;
  if (all.length === 0) return <span className="text-muted">{isArray ? "[ ]" : "{ }"}</span>;
  return (
    <ul className={depth > 0 ? "border-line border-l pl-3" : undefined}>
      {keys.slice(0, shown).map((key) => (
        <Member
          depth={depth}
          isIndex={isArray}
          key={key}
          name={key}
          path={joinPath(path, key, isArray)}
          value={memberOf(value, key)}
        />
      ))}
      {keys.length > shown ? (
        <li>
          <button className="text-accent hover:underline" onClick={() => setShown(shown + 500)} type="button">
            {keys.length - shown} more
          </button>
        </li>
      ) : null}
    </ul>
  );
});

type MemberProps = { name: string; value: Json; path: string; depth: number; isIndex: boolean };

function Member({ name, value, path, depth, isIndex }: MemberProps) {
  const label = (
    <span className={isIndex ? "text-faint" : "text-json-key"}>
      <Marked text={name} />
    </span>
  );
  if (isContainer(value)) {
    return <Branch depth={depth} label={label} path={path} value={value} />;
  }
  return (
    <li className="group/node flex gap-2 rounded pl-4 hover:bg-hover">
      <span className="max-w-[45%] shrink-0 [overflow-wrap:anywhere]">{label}</span>
      <span className="min-w-0 flex-1">
        <Scalar value={value} />
      </span>
      <Copies path={path} value={value} />
    </li>
  );
}

function Branch({ label, value, path, depth }: ChildrenProps & { label: ReactNode }) {
  const search = useContext(SearchContext);
  const size = keysOf(value).length;
  const { records, button } = useTable(value, path);
  const [open, setOpen] = useState(depth < OPEN_DEPTH && (size <= CHILDREN_AT_ONCE || records !== null));
  const unfolded = open || search !== null;
  return (
    <li>
      <div className="group/node flex gap-1 rounded hover:bg-hover">
        <button
          aria-expanded={unfolded}
          className="flex min-w-0 flex-1 items-center gap-1 text-left"
          onClick={() => setOpen(!open)}
          type="button"
        >
          <ChevronRightIcon className={clsx("shrink-0 text-faint", unfolded && "rotate-90")} size={12} />
          <span className="truncate">{label}</span>
          <span className="shrink-0 text-faint">{sizeOf(value)}</span>
        </button>
        {unfolded ? button : null}
        <Copies path={path} value={value} />
      </div>
      {unfolded ? (
        <div className="pl-1.5">
          <Members depth={depth + 1} path={path} records={records} value={value} />
        </div>
      ) : null}
    </li>
  );
}
