"use client";

import { useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { PartHead } from "@/app/_ui/facts";
import { Link } from "@/app/_ui/link";
import { SkeletonLine } from "@/app/_ui/page";
import { usePageActions } from "@/app/_ui/page-actions";
import { useTRPC } from "@/app/_ui/providers";
import { Status } from "@/app/_ui/status";
import { Elapsed } from "@/app/_ui/time";
import type { DefinitionRef } from "@/server/catalog/versions";
import type { RunSummary } from "@/server/runs/read/list";
import { Unreadable } from "../../_ui/text/unreadable";
import { Started, useExactTimes } from "../runs/started";
import { recentRunsQuery } from "./query";

/** The newest runs of an agent or tool, with a link to all of them. */
export function RecentRuns({ of }: { of: DefinitionRef }) {
  const trpc = useTRPC();
  const query = useQuery(recentRunsQuery(trpc, of));
  const runs = query.data?.items ?? [];
  const all = `/runs?${of.kind}=${of.id}`;
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
        <Unreadable
          error={query.error}
          onRetry={() => void query.refetch()}
          what="The runs could not be read"
        />
      ) : (
        <ul aria-busy={query.isPending} className="border-line border-t">
          {query.isPending ? (
            <li className="flex h-10 items-center border-line border-b px-6">
              <SkeletonLine className="w-56" />
            </li>
          ) : runs.length === 0 ? (
            <li className="px-4 py-3 text-muted sm:px-6">No runs yet.</li>
          ) : (
            runs.map((run) => <RunLine key={run.id} run={run} />)
          )}
        </ul>
      )}
    </section>
  );
}

function RunLine({ run }: { run: RunSummary }) {
  const times = useExactTimes(run);
  return (
    <li className="relative flex min-h-10 flex-wrap items-center gap-x-3 border-line border-b px-4 py-1.5 hover:bg-hover sm:flex-nowrap sm:px-6">
      <Link
        aria-label={`Run, ${run.status}: ${run.inputPreview.slice(0, 60)}`}
        className="after:absolute after:inset-0 sm:w-28 sm:shrink-0"
        href={`/runs/${run.id}`}
        title={times}
      >
        <Status status={run.status} waiting={run.waiting} />
      </Link>
      <span
        className={clsx(
          "min-w-0 flex-1 truncate max-sm:order-last max-sm:basis-full",
          run.errorPreview ? "text-failed" : "text-muted",
        )}
      >
        {run.errorPreview ?? run.inputPreview}
      </span>
      <span className="text-faint">v{run.targetVersion}</span>
      <span className="whitespace-nowrap text-muted tabular-nums sm:w-24 sm:text-right">
        <Elapsed from={run.startedAt} to={run.finishedAt} />
      </span>
      <span className="whitespace-nowrap text-muted max-sm:ml-auto sm:w-24 sm:text-right">
        <Started run={run} />
      </span>
    </li>
  );
}
