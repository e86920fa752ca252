import { keepPreviousData } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { shortId } from "@/app/_ui/figures/format";
import { Status } from "@/app/_ui/figures/status";
import { Elapsed } from "@/app/_ui/figures/time";
import { Link } from "@/app/_ui/link";
import { DetailHead, Empty } from "@/app/_ui/page/page";
import { PagedList, usePages } from "@/app/_ui/paged-list";
import type { LineColumn } from "@/app/_ui/table";
import type { RunFilter } from "@/server/runs/read/find/filter";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import type { RunSummary } from "@/server/runs/read/list";
import { FilterBar } from "../(list)/filter/filter-bar";
import { runsQuery, sameTarget } from "../query";
import { Started } from "../started";

/** Picks the other run to compare: of the same agent or tool, unless the reader searches further. */
export function RunPicker({ run }: { run: RunDetail }) {
  const trpc = useTRPC();
  const [filter, setFilter] = useState<RunFilter>(() => sameTarget(run));
  const { query, lines } = usePages({ ...runsQuery(trpc, filter), placeholderData: keepPreviousData });
  return (
    <>
      <DetailHead
        back={{ href: `/runs/${run.id}`, label: `Run ${shortId(run.id)}` }}
        title={`Compare ${run.targetName} with`}
      />
      <FilterBar filter={filter} onChange={setFilter} />
      <PagedList
        columns={columnsFor(run)}
        empty={
          <Empty title="No other run matches these filters">
            <p>Remove a filter, or run {run.targetName} again.</p>
          </Empty>
        }
        keyOf={({ id }) => id}
        label="Runs to compare with"
        list={{ query, lines: lines.filter((each) => each.id !== run.id) }}
        what="runs"
      />
    </>
  );
}

const columnsFor = (run: RunDetail): LineColumn<RunSummary>[] => [
  {
    head: "Run",
    width: "w-32",
    area: "start",
    cell: ({ id }) => (
      <Link
        className="mono text-muted after:absolute after:inset-0"
        href={`/runs/compare?a=${run.id}&b=${id}`}
      >
        {shortId(id)}
      </Link>
    ),
  },
  {
    head: "Status",
    width: "w-36",
    area: "end",
    look: "line",
    cell: ({ status, waiting }) => <Status status={status} waiting={waiting} />,
  },
  {
    head: "Duration",
    width: "w-26",
    area: "none",
    look: "figure",
    cell: ({ startedAt, finishedAt }) => <Elapsed from={startedAt} to={finishedAt} />,
  },
  {
    head: "Input or error",
    area: "lastStart",
    look: "cut",
    cell: (other) => (
      <>
        {other.targetId === (run.agentId ?? run.toolId) ? null : (
          <span className="text-ink">{other.targetName} </span>
        )}
        <span className={other.errorPreview ? "text-failed" : undefined}>
          {other.errorPreview ?? other.inputPreview}
        </span>
      </>
    ),
  },
  {
    head: "Started",
    width: "w-32",
    area: "last",
    look: "figure",
    cell: (other) => (
      <span className="text-muted">
        <Started run={other} />
      </span>
    ),
  },
];
