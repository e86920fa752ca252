"use client";

import { keepPreviousData } from "@tanstack/react-query";
import clsx from "clsx";
import { useSearchParams } from "next/navigation";
import { useRef } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatCount, formatPlural, formatUsed } from "@/app/_ui/figures/format";
import { Status } from "@/app/_ui/figures/status";
import { Elapsed } from "@/app/_ui/figures/time";
import { AgentIcon, ChevronRightIcon, RunsIcon, ToolIcon } from "@/app/_ui/icons";
import { lazy } from "@/app/_ui/lazy";
import { Link } from "@/app/_ui/link";
import { PageHead } from "@/app/_ui/page/page";
import { PagedList, usePages } from "@/app/_ui/paged-list";
import { useMay } from "@/app/_ui/role";
import { type LineColumn, LineList } from "@/app/_ui/table";
import { errorHeadline } from "@/server/runs/read/find/error-headline";
import { isPlain, readFilter, writeFilter } from "../address";
import { rememberList } from "../last-list";
import { runsQuery } from "../query";
import { describeSource, Started, useExactTimes } from "../started";
import { FilterBar } from "./filter-bar";
import type { FilterChange } from "./filter-choices";
import { Histogram } from "./histogram";
import { useListKeys, useReturn, useReveal } from "./list-focus";
import { ListMenu, NewRunMenu } from "./menus";
import { NoRuns, UnknownFilters } from "./notices";
import type { RunLine } from "./run-lines";
import { type Select, SelectionBar, useSelection } from "./selection";
import { StatusTabs } from "./status-tabs";
import { useChildRuns } from "./use-child-runs";
import { useLiveRuns } from "./use-live-runs";

const EqualErrors = lazy(() => import("./equal-errors"), "EqualErrors");

/** The organization's runs: updated live, filtered by the URL, older ones by cursor. */
export function RunsList() {
  const trpc = useTRPC();
  const { filter, unread } = readFilter(useSearchParams());
  const { query, lines: runs } = usePages({ ...runsQuery(trpc, filter), placeholderData: keepPreviousData });
  const { waiting, showWaiting } = useLiveRuns(
    filter,
    query.isSuccess && !query.isPlaceholderData ? { shown: runs, hasOlder: query.hasNextPage } : null,
  );
  const list = useRef<HTMLTableSectionElement>(null);
  const reveal = useReveal(list, runs);
  const mayCancel = useMay("member");
  const { lines, toggle } = useChildRuns(runs, filter.source === "outside");
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
      <FilterBar filter={filter} onChange={chooseFilter} onSearch={correctFilter} />
      {query.isSuccess && runs.length === 0 && isPlain(filter) ? null : (
        <Histogram filter={filter} onChange={chooseFilter} />
      )}
      <StatusTabs filter={filter} onChange={chooseFilter} />
      {unread.length > 0 ? (
        <UnknownFilters onDrop={() => correctFilter((known) => known)} parts={unread} />
      ) : null}
      {/* Leaves room for the selection bar below the last row. */}
      <div className={clsx("relative", selection.size > 0 && "pb-16")}>
        {waiting > 0 ? (
          // Above the head of the list, on phones beside the filters, so that it covers no row.
          <div className="sticky top-23 z-30 flex h-0 justify-center overflow-visible md:top-0 md:justify-start md:pl-24">
            <button
              className="-mt-9 h-7 rounded-full md:mt-0.5 bg-accent-fill px-3 font-medium text-on-accent text-xs shadow-raised hover:bg-accent-fill-hover"
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
        {filter.status?.length === 1 && filter.status[0] === "Failed" ? (
          <EqualErrors filter={filter} />
        ) : null}
        <PagedList
          bodyRef={list}
          columns={runColumns({ isSelected, onSelect: mayCancel ? select : undefined, onToggle: toggle })}
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

type Acting = {
  isSelected: (run: RunLine) => boolean;
  onSelect: Select | undefined;
  onToggle: (run: RunLine) => void;
};

const runColumns = ({ isSelected, onSelect, onToggle }: Acting): LineColumn<RunLine>[] => [
  {
    head: "Run",
    area: "start",
    cell: (run) => <RunName onSelect={onSelect} onToggle={onToggle} run={run} selected={isSelected(run)} />,
  },
  {
    head: "Status",
    width: "w-30 lg:w-28",
    area: "end",
    cell: ({ status, waiting }) => <Status status={status} waiting={waiting} />,
  },
  { head: "Started by", width: "w-36 2xl:w-44", area: "wide", look: "cut", cell: describeSource },
  {
    head: "Started",
    title: "Sorted by creation, newest first.",
    width: "w-28",
    area: "lastStart",
    look: "muted",
    cell: (run) => (
      <span className="flex min-w-0 gap-2 max-md:pl-6 max-md:text-xs">
        <Started run={run} />
        <Preview on="phone" run={run} />
      </span>
    ),
  },
  {
    head: "Duration",
    width: "w-24",
    area: "last",
    look: "figure",
    cell: ({ startedAt, finishedAt }) => (
      <span className="max-md:text-muted">
        <Elapsed from={startedAt} to={finishedAt} />
      </span>
    ),
  },
  {
    head: "Tokens",
    width: "w-20",
    area: "widest",
    look: "figure",
    cell: ({ tokens }) => (
      <span className={tokens === 0 ? "text-faint" : "text-muted"}>{formatUsed(tokens)}</span>
    ),
  },
  {
    head: "Credits",
    width: "w-24",
    area: "none",
    look: "figure",
    cell: ({ credits }) => <span className="text-muted">{formatUsed(credits)}</span>,
  },
];

export const RunsSkeleton = () => (
  <LineList
    columns={runColumns({ isSelected: () => false, onSelect: undefined, onToggle: () => {} })}
    keyOf={keyOf}
    label="Runs"
    lines={null}
  />
);

/** By depth: below the run that called it. */
const INDENTS = ["md:pl-4", "md:pl-10", "md:pl-16", "md:pl-22"];

type RunNameProps = {
  run: RunLine;
  selected: boolean;
  onSelect: Select | undefined;
  onToggle: (run: RunLine) => void;
};

function RunName({ run, selected, onSelect, onToggle }: RunNameProps) {
  const times = useExactTimes(run);
  const KindIcon = run.kind === "agent" ? AgentIcon : ToolIcon;
  return (
    <div
      className={clsx("flex min-w-0 items-center gap-2", INDENTS[Math.min(run.depth, INDENTS.length - 1)])}
    >
      {run.opened === null ? null : (
        <button
          aria-expanded={run.opened}
          aria-label={`${run.opened ? "Hide" : "Show"} the ${formatPlural(run.children, "child run")} of ${run.targetName}`}
          className="relative z-10 -mr-2 -ml-6 flex size-6 shrink-0 items-center justify-center rounded text-faint hover:text-ink max-md:hidden"
          data-unfold
          onClick={() => onToggle(run)}
          type="button"
        >
          <ChevronRightIcon className={clsx(run.opened && "rotate-90")} size={14} />
        </button>
      )}
      <span
        className="relative z-10 flex size-4 shrink-0 items-center justify-center"
        title={`${run.kind} run`}
      >
        <span className="sr-only">{run.kind}</span>
        <KindIcon
          className={clsx(
            "text-faint",
            onSelect && "md:group-focus-within:hidden md:group-hover:hidden",
            selected && "hidden",
          )}
        />
        {onSelect ? (
          <input
            aria-label={`Select the run of ${run.targetName}, ${run.status}`}
            checked={selected}
            className={clsx(
              "size-3.5 accent-accent max-md:hidden",
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
        className={`${run.errorPreview ? "md:max-w-[45%]" : "md:max-w-[60%]"} truncate md:shrink-0 font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-focus focus-visible:after:-outline-offset-2`}
        data-row={run.depth}
        title={`${run.targetName}\n${run.errorPreview ?? run.inputPreview}\n${times}`}
        onClick={() => rememberList(run.id)}
        href={`/runs/${run.id}`}
      >
        {run.targetName}
      </Link>
      {run.children > 0 ? (
        <span
          className="order-last ml-auto inline-flex shrink-0 items-center gap-1 rounded border border-line px-1.5 text-muted text-xs tabular-nums"
          title={formatPlural(run.children, "child run")}
        >
          <RunsIcon size={12} />
          {run.opened && run.shownChildren < run.children ? `${formatCount(run.shownChildren)} of ` : null}
          {formatCount(run.children)}
          <span className="sr-only">{run.children === 1 ? " child run" : " child runs"}</span>
        </span>
      ) : null}
      <Preview on="screen" run={run} />
    </div>
  );
}

type PreviewProps = { run: RunLine; on: "phone" | "screen" };

function Preview({ run: { errorPreview, inputPreview }, on }: PreviewProps) {
  const width = on === "phone" ? "min-w-0 md:hidden" : "min-w-0 max-md:hidden";
  if (errorPreview === null) return <span className={`${width} truncate text-muted`}>{inputPreview}</span>;
  return (
    <span
      className={clsx(
        width,
        on === "phone" ? "truncate" : "-my-px line-clamp-2 leading-4 [overflow-wrap:anywhere]",
      )}
    >
      {errorHeadline(errorPreview)}
    </span>
  );
}
