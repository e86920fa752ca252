"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { PartHead } from "@/app/_ui/figures/facts";
import { StatusShape, shownStatus } from "@/app/_ui/figures/status";
import { Elapsed } from "@/app/_ui/figures/time";
import { Link } from "@/app/_ui/link";
import { SkeletonLine } from "@/app/_ui/page/page";
import { usePageActions } from "@/app/_ui/page/page-actions";
import { Badge } from "@/app/_ui/row-name";
import { Unreadable } from "@/app/_ui/text/unreadable";
import type { DefinitionRef } from "@/server/catalog/definition-rows";
import type { RunSummary } from "@/server/runs/read/list";
import { recentRunsQuery } from "../../runs/query";
import { Started, useExactTimes } from "../../runs/started";

/** The newest runs of an agent or tool, with a link to all of them. */
export function RecentRuns({ of }: { of: DefinitionRef }) {
  const trpc = useTRPC();
  const query = useQuery(recentRunsQuery(trpc, of));
  const runs = query.data?.items ?? [];
  const all = `/runs?${of.kind}=${of.id}&source=any`;
  const metrics = `/metrics?${of.kind}=${of.id}`;
  usePageActions([
    { label: `Runs of this ${of.kind}`, href: all },
    { label: `Metrics of this ${of.kind}`, href: metrics },
  ]);
  return (
    <section aria-label="Recent runs">
      <PartHead title="Recent runs">
        {runs.length > 0 ? (
          <>
            <Link className="text-accent hover:underline" href={metrics}>
              Metrics
            </Link>
            <Link className="ml-1 text-accent hover:underline" href={all}>
              All runs
            </Link>
          </>
        ) : null}
      </PartHead>
      {query.isError ? (
        <Unreadable query={query} what="Could not load runs" />
      ) : (
        <ul aria-busy={query.isPending} className="pb-2">
          {query.isPending ? (
            <li className="flex h-8 items-center px-6">
              <SkeletonLine className="w-56" />
            </li>
          ) : runs.length === 0 ? (
            <li className="px-4 pb-2 text-muted sm:px-6">No runs yet.</li>
          ) : (
            runs.map((run) => <RunLine key={run.id} run={run} />)
          )}
        </ul>
      )}
    </section>
  );
}

/** The names of runs of a draft end so (server/runs/prepare-start.ts). */
const isDraft = ({ targetName }: RunSummary) => targetName.endsWith(" (draft)");

function RunLine({ run }: { run: RunSummary }) {
  const times = useExactTimes(run);
  const status = shownStatus(run.status, run.waiting);
  return (
    <li>
      <Link
        className="grid min-h-8 grid-cols-[0.75rem_minmax(0,1fr)_auto_auto] items-center gap-2.5 px-4 py-1 hover:bg-hover sm:px-6"
        href={`/runs/${run.id}`}
        title={`${status}\n${times}`}
      >
        <StatusShape status={status} />
        <span className="flex min-w-0 items-center gap-2">
          {isDraft(run) ? <Badge>draft</Badge> : null}
          <span className="truncate">
            <span className="sr-only">Run, {status}: </span>
            {run.inputPreview}
          </span>
        </span>
        <span className="whitespace-nowrap text-muted tabular-nums">
          <Elapsed from={run.startedAt} to={run.finishedAt} />
        </span>
        <span className="min-w-14 whitespace-nowrap text-right text-faint text-xs">
          <Started run={run} />
        </span>
      </Link>
    </li>
  );
}
