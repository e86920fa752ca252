import { keepPreviousData, useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import type { ReactNode } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatCount } from "@/app/_ui/figures/format";
import { StatusShape } from "@/app/_ui/figures/status";
import { Segments } from "@/app/_ui/segments";
import { LISTED_STATUSES, type ListedStatus, MAX_COUNTED_RUNS } from "@/server/runs/read/enums";
import type { RunFilter } from "@/server/runs/read/find/filter";
import { writeFilter } from "../../address";
import { type FilterChange, without } from "./filter-choices";

const REFRESH_MS = 15_000;

type Props = { filter: RunFilter; onChange: (change: FilterChange) => void; children: ReactNode };

/** The statuses with their numbers of runs, as links, the choice of root runs or all, and other choices. */
export function StatusTabs({ filter, onChange, children }: Props) {
  const trpc = useTRPC();
  const { status = [] } = filter;
  const { data } = useQuery({
    ...trpc.runs.statuses.queryOptions({ filter: without(filter, "status") }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  const tab = (name: string, chosen: ListedStatus | null) => {
    const choose = (latest: RunFilter): RunFilter =>
      chosen === null ? without(latest, "status") : { ...latest, status: [chosen] };
    const isCurrent = chosen === null ? status.length === 0 : status.length === 1 && status[0] === chosen;
    return (
      <a
        aria-current={isCurrent ? "true" : undefined}
        className={clsx(
          "inline-flex h-9 min-w-6 shrink-0 items-center gap-1.5 whitespace-nowrap border-b-2",
          isCurrent ? "border-accent font-medium text-ink" : "border-transparent text-muted hover:text-ink",
        )}
        href={`/runs${writeFilter(choose(filter))}`}
        key={name}
        ref={isCurrent ? reveal : undefined}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return;
          event.preventDefault();
          onChange(choose);
        }}
      >
        {chosen === null ? null : <StatusShape status={chosen} />}
        {name}
        {data ? (
          // The numbers come after the tabs and widen them.
          <span className="font-normal text-faint text-xs tabular-nums" ref={isCurrent ? reveal : undefined}>
            {countLabel(data, chosen)}
          </span>
        ) : null}
      </a>
    );
  };
  return (
    <div className="flex items-center justify-between gap-x-3 px-4 max-md:flex-wrap sm:px-6">
      <nav aria-label="Status" className="flex min-w-0 gap-4 self-end overflow-x-auto max-md:basis-full">
        {tab("All", null)}
        {LISTED_STATUSES.map((each) => tab(each, each))}
      </nav>
      <Segments
        className="my-1.5 ml-auto"
        label="Runs to list"
        onChange={(value) =>
          onChange((latest) =>
            value === "roots" ? { ...latest, source: "outside" } : without(latest, "source"),
          )
        }
        options={[
          { value: "roots", label: "Root runs" },
          { value: "all", label: "With child runs" },
        ]}
        value={filter.source === "outside" ? "roots" : filter.source === undefined ? "all" : null}
      />
      {children}
    </div>
  );
}

/** Scrolls only the tabs' line, because a restored list has a scroll position. */
function reveal(part: HTMLElement | null): void {
  const tab = part?.closest("a");
  const line = tab?.parentElement;
  if (tab && line) line.scrollLeft = tab.offsetLeft - line.offsetLeft - line.clientWidth / 3;
}

function countLabel(counts: Partial<Record<ListedStatus, number>>, status: ListedStatus | null): string {
  const counted = status === null ? Object.values(counts) : [counts[status] ?? 0];
  const sum = counted.reduce((total, count) => total + count, 0);
  return counted.some((count) => count >= MAX_COUNTED_RUNS)
    ? `${formatCount(MAX_COUNTED_RUNS)}+`
    : formatCount(sum);
}
