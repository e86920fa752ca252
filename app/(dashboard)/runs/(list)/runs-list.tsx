"use client";

import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { useSearchParams } from "next/navigation";
import { useMemo, useRef } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatPlural, formatUsed } from "@/app/_ui/figures/format";
import { Status } from "@/app/_ui/figures/status";
import { Elapsed } from "@/app/_ui/figures/time";
import { AgentIcon, ToolIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";
import { OlderButton } from "@/app/_ui/older-button";
import { PageHead } from "@/app/_ui/page/page";
import { RowSkeletons } from "@/app/_ui/page/skeletons";
import { useMay } from "@/app/_ui/role";
import { HeadCell } from "@/app/_ui/table";
import { Unreadable } from "@/app/_ui/text/unreadable";
import type { RunSummary } from "@/server/runs/read/list";
import { readFilter, writeFilter } from "../address";
import { rememberList } from "../last-list";
import { runsQuery } from "../query";
import { describeSource, Started, useExactTimes } from "../started";
import { FilterBar } from "./filter-bar";
import type { FilterChange } from "./filter-choices";
import { useListKeys, useReturn, useReveal } from "./list-focus";
import { ListMenu, NewRunMenu } from "./menus";
import { NoRuns, UnknownFilters } from "./notices";
import { type Select, SelectionBar, useSelection } from "./selection";
import { useLiveRuns } from "./use-live-runs";

/** The organization's runs: updated live, filtered by the URL, older ones by cursor. */
export function RunsList() {
  const trpc = useTRPC();
  const { filter, unread } = readFilter(useSearchParams());
  const query = useInfiniteQuery({ ...runsQuery(trpc, filter), placeholderData: keepPreviousData });
  const runs = useMemo(() => query.data?.pages.flatMap((page) => page.items) ?? [], [query.data]);
  const { waiting, showWaiting } = useLiveRuns(
    filter,
    query.isSuccess && !query.isPlaceholderData ? { shown: runs, hasOlder: query.hasNextPage } : null,
  );
  const list = useRef<HTMLTableSectionElement>(null);
  const reveal = useReveal(list, runs);
  const mayCancel = useMay("member");
  const { selection, select, clear } = useSelection(runs);
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
      <FilterBar filter={filter} onChange={chooseFilter} onSearch={correctFilter} />
      {unread.length > 0 ? (
        <UnknownFilters onDrop={() => correctFilter((known) => known)} parts={unread} />
      ) : null}
      {/* Leaves room for the selection bar below the last row. */}
      <div className={clsx("relative", selection.size > 0 && "pb-16")}>
        {waiting > 0 ? (
          // Above the head of the list, on phones beside the filters, so that it covers no row.
          <div className="sticky top-23 z-30 flex h-0 justify-center overflow-visible sm:top-12 sm:justify-start sm:pl-24 md:top-0">
            <button
              className="-mt-9 h-7 rounded-full sm:mt-0.5 bg-accent-fill px-3 font-medium text-on-accent text-xs shadow-raised hover:bg-accent-fill-hover"
              onClick={() => {
                const first = showWaiting();
                if (first !== undefined && first < (runs[0]?.id ?? "")) reveal(first);
                else window.scrollTo({ top: 0 });
              }}
              type="button"
            >
              {waiting >= 100 ? "99+" : waiting} new
            </button>
          </div>
        ) : null}
        {query.isError && runs.length === 0 ? (
          <Unreadable query={query} what="The runs could not be read" />
        ) : query.isSuccess && runs.length === 0 ? (
          <NoRuns filter={filter} onClear={() => chooseFilter(() => ({}))} />
        ) : (
          <table
            aria-busy={query.isPending || query.isPlaceholderData}
            aria-label="Runs"
            className={clsx(
              "w-full table-fixed border-line border-t text-left",
              query.isPlaceholderData && "opacity-60",
            )}
          >
            <thead className="hidden sm:table-header-group">
              <tr>
                <HeadCell>Run</HeadCell>
                <HeadCell className="w-30">Status</HeadCell>
                <HeadCell className="hidden w-44 lg:table-cell">Started by</HeadCell>
                <HeadCell className="w-28" title="Sorted by creation, newest first.">
                  Started
                </HeadCell>
                <HeadCell className="w-26 text-right">Duration</HeadCell>
                <HeadCell className="hidden w-20 text-right md:table-cell">Tokens</HeadCell>
                <HeadCell className="hidden w-24 text-right md:table-cell">Credits</HeadCell>
              </tr>
            </thead>
            <tbody ref={list}>
              {query.isPending ? (
                <RowSkeletons columns={7} />
              ) : (
                runs.map((run) => (
                  <RunRow
                    key={run.id}
                    onSelect={mayCancel ? select : undefined}
                    run={run}
                    selected={selection.has(run.id)}
                  />
                ))
              )}
            </tbody>
          </table>
        )}
        <SelectionBar onClear={clear} runs={runs.filter((run) => selection.has(run.id))} />
        {runs.length > 0 && !query.hasNextPage && !query.isPlaceholderData ? (
          <p className="px-4 py-3 text-muted text-xs sm:px-6">
            {formatPlural(runs.length, "run")}
            {Object.keys(filter).length > 0 ? " with these filters" : " in total"}
          </p>
        ) : null}
        <OlderButton query={query} what="runs" />
      </div>
    </>
  );
}

/** Adds a history entry, so that "back" undoes the condition. */
const chooseFilter = (change: FilterChange) =>
  changeFilter(change, (address) => window.history.pushState(null, "", address));
const correctFilter = (change: FilterChange) =>
  changeFilter(change, (address) => window.history.replaceState(null, "", address));

/**
 * Applies a change to the filter in the address. The rendered filter may be older: the router renders a new address in
 * a transition. The browser fetches the rows itself, because a server navigation would send the same page again.
 */
function changeFilter(change: FilterChange, write: (address: string) => void): void {
  const { filter } = readFilter(new URLSearchParams(location.search));
  const next = writeFilter(change(filter));
  if (next !== location.search) write(`/runs${next}`);
}

const CELL = "h-10 border-line border-b px-3 py-1 max-sm:h-auto max-sm:border-0 max-sm:p-0 sm:table-cell";

/** One run. On a phone it has two lines. */
function RunRow({
  run,
  selected,
  onSelect,
}: {
  run: RunSummary;
  selected: boolean;
  onSelect: Select | undefined;
}) {
  const times = useExactTimes(run);
  const KindIcon = run.kind === "agent" ? AgentIcon : ToolIcon;
  return (
    <tr
      className={clsx(
        "group relative grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 px-4 py-1.5 max-sm:border-line max-sm:border-b sm:table-row sm:p-0",
        selected ? "bg-selected" : "hover:bg-hover has-[a:focus-visible]:bg-hover",
      )}
    >
      <td className={`${CELL} min-w-0 sm:pl-6`}>
        <div className="flex min-w-0 items-center gap-2">
          <span
            className="relative z-10 flex size-4 shrink-0 items-center justify-center"
            title={`${run.kind} run`}
          >
            <span className="sr-only">{run.kind}</span>
            <KindIcon
              className={clsx(
                "text-faint",
                onSelect && "sm:group-focus-within:hidden sm:group-hover:hidden",
                selected && "hidden",
              )}
            />
            {onSelect ? (
              <input
                aria-label={`Select the run of ${run.targetName}, ${run.status}`}
                checked={selected}
                className={clsx(
                  "size-3.5 accent-accent max-sm:hidden",
                  !selected &&
                    "absolute opacity-0 focus-visible:opacity-100 group-hover:opacity-100 group-focus-within:opacity-100",
                )}
                data-select
                onChange={({ target, nativeEvent }) =>
                  onSelect(run.id, target.checked, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
                }
                type="checkbox"
              />
            ) : null}
          </span>
          <Link
            className={`${run.errorPreview ? "sm:max-w-[45%]" : "sm:max-w-[60%]"} truncate sm:shrink-0 font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-focus focus-visible:after:-outline-offset-2`}
            data-row
            title={`${run.targetName}\n${run.errorPreview ?? run.inputPreview}\n${times}`}
            onClick={() => rememberList(run.id)}
            href={`/runs/${run.id}`}
          >
            {run.targetName}
          </Link>
          <Preview className="max-sm:hidden" run={run} />
        </div>
      </td>
      <td className={`${CELL} max-sm:text-right`}>
        <Status status={run.status} waiting={run.waiting} />
      </td>
      <td className={`${CELL} hidden truncate text-muted max-lg:hidden lg:table-cell`}>
        {describeSource(run)}
      </td>
      <td
        className={`${CELL} whitespace-nowrap text-muted max-sm:flex max-sm:min-w-0 max-sm:gap-2 max-sm:pl-6 max-sm:text-xs`}
      >
        <Started run={run} />
        <Preview className="sm:hidden" run={run} />
      </td>
      <td className={`${CELL} whitespace-nowrap text-right max-sm:min-h-5 max-sm:text-muted`}>
        <Elapsed from={run.startedAt} to={run.finishedAt} />
      </td>
      <td
        className={`${CELL} hidden text-right max-md:hidden md:table-cell ${run.tokens === 0 ? "text-faint" : "text-muted"}`}
      >
        {formatUsed(run.tokens)}
      </td>
      <td className={`${CELL} hidden text-right text-muted max-md:hidden sm:pr-6 md:table-cell`}>
        {formatUsed(run.credits)}
      </td>
    </tr>
  );
}

/** The start of the error, or else of the input. */
function Preview({ run, className }: { run: RunSummary; className: string }) {
  return (
    <span className={clsx("min-w-0 truncate text-muted", className)}>
      {run.errorPreview ?? run.inputPreview}
    </span>
  );
}
