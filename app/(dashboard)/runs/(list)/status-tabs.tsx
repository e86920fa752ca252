import { keepPreviousData, useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatCount } from "@/app/_ui/figures/format";
import { Segments } from "@/app/_ui/segments";
import { RUN_STATUSES, type RunStatus } from "@/server/contract/enums";
import { MAX_COUNTED_RUNS } from "@/server/runs/read/enums";
import type { RunFilter } from "@/server/runs/read/filter";
import { writeFilter } from "../address";
import { type FilterChange, without } from "./filter-choices";

const REFRESH_MS = 15_000;

type Props = { filter: RunFilter; onChange: (change: FilterChange) => void };

/** The statuses with their numbers of runs, as links, and the choice of root runs or all. */
export function StatusTabs({ filter, onChange }: Props) {
  const trpc = useTRPC();
  const { status = [] } = filter;
  const { data } = useQuery({
    ...trpc.runs.statuses.queryOptions({ filter: without(filter, "status") }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  const tab = (name: string, chosen: RunStatus | null) => {
    const choose = (latest: RunFilter): RunFilter =>
      chosen === null ? without(latest, "status") : { ...latest, status: [chosen] };
    const isCurrent = chosen === null ? status.length === 0 : status.length === 1 && status[0] === chosen;
    return (
      <a
        aria-current={isCurrent ? "true" : undefined}
        className={clsx(
          "inline-flex h-7 items-center gap-1.5 rounded-md px-2",
          isCurrent ? "bg-selected font-medium text-ink" : "text-muted hover:bg-hover hover:text-ink",
        )}
        href={`/runs${writeFilter(choose(filter))}`}
        key={name}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return;
          event.preventDefault();
          onChange(choose);
        }}
      >
        {name}
        {data && chosen !== null ? (
          <span className="font-normal text-faint text-xs tabular-nums">{countLabel(data[chosen] ?? 0)}</span>
        ) : null}
      </a>
    );
  };
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 pb-3 sm:px-6">
      <nav aria-label="Status" className="flex flex-wrap items-center gap-1">
        {tab("All", null)}
        {RUN_STATUSES.map((each) => tab(each, each))}
      </nav>
      <Segments
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
    </div>
  );
}

function countLabel(count: number): string {
  return count >= MAX_COUNTED_RUNS ? `${formatCount(MAX_COUNTED_RUNS)}+` : formatCount(count);
}
