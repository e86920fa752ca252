"use client";

import { keepPreviousData } from "@tanstack/react-query";
import clsx from "clsx";
import { useSearchParams } from "next/navigation";
import { useRef } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatPlural } from "@/app/_ui/figures/format";
import { UpIcon } from "@/app/_ui/icons";
import { lazy } from "@/app/_ui/lazy";
import { PageHead } from "@/app/_ui/page/page";
import { PagedList, usePages } from "@/app/_ui/paged-list";
import { useMay } from "@/app/_ui/role";
import { LineList } from "@/app/_ui/table";
import { isPlain, readFilter, writeFilter } from "../address";
import { runsQuery } from "../query";
import { type ColumnName, USUAL_COLUMNS } from "./columns/column-choice";
import { ColumnsButton } from "./columns/columns-button";
import { runColumns } from "./columns/run-columns";
import { useColumns } from "./columns/use-columns";
import { useDayHeadings } from "./day-heading";
import { FilterBar } from "./filter/filter-bar";
import type { FilterChange } from "./filter/filter-choices";
import { StatusTabs } from "./filter/status-tabs";
import { Histogram } from "./histogram/histogram";
import { useListKeys, useReturn, useReveal } from "./list-focus";
import { ListMenu, NewRunMenu } from "./menus";
import { NoRuns, UnknownFilters } from "./notices";
import type { RunLine } from "./run-lines";
import { SelectionBar, useSelection } from "./selection";
import { useChildRuns } from "./use-child-runs";
import { useLiveRuns } from "./use-live-runs";
import { SavedViews, SaveViewButton } from "./views/saved-views";

const EqualErrors = lazy(() => import("./equal-errors"), "EqualErrors");

export function RunsList({ initialColumns }: { initialColumns: readonly ColumnName[] }) {
  const trpc = useTRPC();
  const { filter, unread } = readFilter(useSearchParams());
  const { query, lines: runs } = usePages({
    ...runsQuery(trpc, filter),
    placeholderData: keepPreviousData,
    // New runs wait until the reader asks for them, so that rows stay where they are.
    refetchOnWindowFocus: false,
  });
  const { waiting, showWaiting } = useLiveRuns(
    filter,
    query.isSuccess && !query.isPlaceholderData ? { shown: runs, hasOlder: query.hasNextPage } : null,
  );
  const list = useRef<HTMLTableSectionElement>(null);
  const reveal = useReveal(list, runs);
  const { columns, choose } = useColumns(initialColumns);
  const mayCancel = useMay("member");
  const { lines, toggle } = useChildRuns(runs, filter.source === "outside");
  const headingOf = useDayHeadings(lines, query.hasNextPage);
  const { selection, select, clear } = useSelection(lines);
  const isSelected = ({ id }: RunLine) => selection.has(id);
  useListKeys(list);
  useReturn(list, {
    lastId: runs.at(-1)?.id,
    count: runs.length,
    more: query.hasNextPage ? () => void query.fetchNextPage() : undefined,
  });

  return (
    <>
      <PageHead title="Runs">
        {/* The list ignores unknown conditions, so it may show more runs than intended: no bulk actions. */}
        {unread.length > 0 ? null : <ListMenu filter={filter} />}
        <NewRunMenu />
      </PageHead>
      <SavedViews
        onChoose={(view) => {
          if (view.columns) choose(view.columns);
          chooseFilter(() => view.filter);
        }}
        shown={{ filter, columns }}
      />
      <FilterBar filter={filter} onChange={chooseFilter} onSearch={correctFilter}>
        {unread.length > 0 ? null : <SaveViewButton shown={{ filter, columns }} />}
      </FilterBar>
      {query.isSuccess && runs.length === 0 && isPlain(filter) ? null : (
        <Histogram filter={filter} onChange={chooseFilter} />
      )}
      <StatusTabs filter={filter} onChange={chooseFilter}>
        <ColumnsButton columns={columns} onChange={choose} />
      </StatusTabs>
      {unread.length > 0 ? (
        <UnknownFilters onDrop={() => correctFilter((known) => known)} parts={unread} />
      ) : null}
      {/* Leaves room for the selection bar below the last row. */}
      <div className={clsx("relative", selection.size > 0 && "pb-16")}>
        {filter.status?.length === 1 && filter.status[0] === "Failed" ? (
          <EqualErrors filter={filter} />
        ) : null}
        <PagedList
          bodyRef={list}
          columns={runColumns(columns, {
            isSelected,
            onSelect: mayCancel ? select : undefined,
            onToggle: toggle,
          })}
          headingOf={headingOf}
          notice={
            waiting > 0 ? (
              // As high as the heading of a day, so that it covers no row.
              <button
                className="flex h-8 w-full items-center justify-center gap-1.5 border-line border-b bg-accent-wash font-medium text-accent text-xs hover:underline"
                onClick={() => {
                  const first = showWaiting();
                  if (first !== undefined && first < (runs[0]?.id ?? "")) reveal(first);
                  else window.scrollTo({ top: 0 });
                }}
                type="button"
              >
                <UpIcon size={14} />
                Show {waiting >= 100 ? "99+" : waiting} new {waiting === 1 ? "run" : "runs"}
              </button>
            ) : null
          }
          empty={<NoRuns filter={filter} onClear={() => chooseFilter(() => ({ source: "outside" }))} />}
          foot={
            <p className="px-4 py-3 text-muted text-xs sm:px-6">
              {formatPlural(runs.length, filter.source === "outside" ? "root run" : "run")}
              {isPlain(filter) ? " in total" : " with these filters"}
            </p>
          }
          isNested={isNested}
          isSelected={isSelected}
          keyOf={keyOf}
          label="Runs"
          list={{ query, lines }}
          what="runs"
        />
        <SelectionBar onClear={clear} runs={lines.filter((run) => selection.has(run.id))} />
      </div>
    </>
  );
}

const chooseFilter = (change: FilterChange) =>
  changeFilter(change, (address) => window.history.pushState(null, "", address));
const correctFilter = (change: FilterChange) =>
  changeFilter(change, (address) => window.history.replaceState(null, "", address));

/**
 * The rendered filter may be older than the address, because the router renders in a transition. The browser
 * fetches the rows: a server navigation would send the same page again.
 */
function changeFilter(change: FilterChange, write: (address: string) => void): void {
  const { filter } = readFilter(new URLSearchParams(location.search));
  const next = writeFilter(change(filter));
  if (next !== location.search) write(`/runs${next}`);
}

const keyOf = ({ id }: RunLine) => id;
const isNested = ({ depth }: RunLine) => depth > 0;

export const RunsSkeleton = () => (
  <LineList
    columns={runColumns(USUAL_COLUMNS, { isSelected: () => false, onSelect: undefined, onToggle: () => {} })}
    keyOf={keyOf}
    label="Runs"
    lines={null}
  />
);
