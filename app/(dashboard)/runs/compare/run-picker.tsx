"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { shortId } from "@/app/_ui/format";
import { ChevronLeftIcon } from "@/app/_ui/icons";
import { Bone, Empty, PageHead } from "@/app/_ui/page";
import { useTRPC } from "@/app/_ui/providers";
import { Status } from "@/app/_ui/status";
import { Ago, Elapsed } from "@/app/_ui/time";
import { Unreadable } from "@/app/_ui/unreadable";
import type { RunDetail } from "@/server/runs/inspect";

/** Asks with which other run of the same agent or tool one is to be compared. */
export function RunPicker({ run }: { run: RunDetail }) {
  const trpc = useTRPC();
  const filter = run.agentId ? { agentId: run.agentId } : { toolId: run.toolId ?? "" };
  const query = useQuery(trpc.runs.list.queryOptions({ filter, limit: 50 }));
  const others = query.data?.items.filter((each) => each.id !== run.id);
  return (
    <>
      <PageHead
        title={
          <>
            Compare {run.targetName}, run <span className="mono">{shortId(run.id)}</span>, with
          </>
        }
      >
        <Link className="flex items-center gap-0.5 text-muted hover:text-ink" href={`/runs/${run.id}`}>
          <ChevronLeftIcon />
          Back to the run
        </Link>
      </PageHead>
      {query.isError ? (
        <Unreadable
          error={query.error}
          onRetry={() => void query.refetch()}
          what="Its other runs could not be read"
        />
      ) : others?.length === 0 ? (
        <Empty title={`${run.targetName} has no other run`}>
          <p>Run it again, then compare the two.</p>
        </Empty>
      ) : null}
      <ul className="border-line border-t">
        {others
          ? others.map((other) => (
              <li className="border-line border-b" key={other.id}>
                <Link
                  className="flex min-h-10 flex-wrap items-center gap-x-4 px-4 py-1.5 hover:bg-hover sm:px-6"
                  href={`/runs/compare?a=${run.id}&b=${other.id}`}
                  prefetch={false}
                >
                  <span className="mono w-24 text-muted">{shortId(other.id)}</span>
                  <Status className="w-28" status={other.status} waiting={other.waiting} />
                  <span className="mono w-20 text-right">
                    <Elapsed from={other.startedAt} to={other.finishedAt} />
                  </span>
                  <span className="mono min-w-0 flex-1 truncate text-muted max-sm:basis-full">
                    {other.inputPreview}
                  </span>
                  <Ago at={other.createdAt} className="text-muted" />
                </Link>
              </li>
            ))
          : query.isError
            ? null
            : ["w-56", "w-72", "w-64"].map((width) => (
                <li className="flex h-10 items-center border-line border-b px-6" key={width}>
                  <Bone className={width} />
                </li>
              ))}
      </ul>
    </>
  );
}
