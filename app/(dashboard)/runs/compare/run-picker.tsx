import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { shortId } from "@/app/_ui/figures/format";
import { Status } from "@/app/_ui/figures/status";
import { Elapsed } from "@/app/_ui/figures/time";
import { Link } from "@/app/_ui/link";
import { OlderButton } from "@/app/_ui/older-button";
import { DetailHead, Empty } from "@/app/_ui/page/page";
import { ItemSkeletons } from "@/app/_ui/page/skeletons";
import { Unreadable } from "@/app/_ui/text/unreadable";
import type { RunFilter } from "@/server/runs/read/filter";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import type { RunSummary } from "@/server/runs/read/list";
import { FilterBar } from "../(list)/filter-bar";
import { runsQuery, sameTarget } from "../query";
import { Started } from "../started";

/** Picks the other run to compare: of the same agent or tool, unless the reader searches further. */
export function RunPicker({ run }: { run: RunDetail }) {
  const trpc = useTRPC();
  const [filter, setFilter] = useState<RunFilter>(() => sameTarget(run));
  const query = useInfiniteQuery({ ...runsQuery(trpc, filter), placeholderData: keepPreviousData });
  const others = query.data?.pages.flatMap((page) => page.items).filter((each) => each.id !== run.id);
  return (
    <>
      <DetailHead
        back={{ href: `/runs/${run.id}`, label: `Run ${shortId(run.id)}` }}
        title={`Compare ${run.targetName} with`}
      />
      <FilterBar filter={filter} onChange={setFilter} />
      {query.isError && !others ? (
        <Unreadable query={query} what="The other runs could not be read" />
      ) : others?.length === 0 && !query.hasNextPage ? (
        <Empty title="No other run matches these filters">
          <p>Remove a filter, or run {run.targetName} again.</p>
        </Empty>
      ) : (
        <ul
          aria-busy={query.isPlaceholderData}
          aria-label="Runs to compare with"
          className={clsx("border-line border-t", query.isPlaceholderData && "opacity-60")}
        >
          {others ? (
            others.map((other) => <OtherRun key={other.id} other={other} run={run} />)
          ) : (
            <ItemSkeletons />
          )}
        </ul>
      )}
      <OlderButton query={query} what="runs" />
    </>
  );
}

function OtherRun({ run, other }: { run: RunDetail; other: RunSummary }) {
  return (
    <li className="border-line border-b">
      <Link
        className="flex min-h-10 flex-wrap items-center gap-x-4 px-4 py-1.5 hover:bg-hover sm:px-6"
        href={`/runs/compare?a=${run.id}&b=${other.id}`}
      >
        <span className="mono text-muted sm:w-24">{shortId(other.id)}</span>
        <Status className="sm:w-28" status={other.status} waiting={other.waiting} />
        <span className="tabular-nums sm:w-20 sm:text-right">
          <Elapsed from={other.startedAt} to={other.finishedAt} />
        </span>
        <span className="min-w-0 flex-1 truncate text-muted max-sm:order-last max-sm:basis-full">
          {other.targetId === (run.agentId ?? run.toolId) ? null : (
            <span className="text-ink">{other.targetName} </span>
          )}
          <span className={other.errorPreview ? "text-failed" : undefined}>
            {other.errorPreview ?? other.inputPreview}
          </span>
        </span>
        <span className="ml-auto text-muted">
          <Started run={other} />
        </span>
      </Link>
    </li>
  );
}
