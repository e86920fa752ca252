"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { formatDuration } from "@/app/_ui/format";
import { useTRPC } from "@/app/_ui/providers";
import type { RunDetail } from "@/server/runs/inspect";
import type { Pulse } from "@/server/runs/pulse";
import { reasonToWait } from "./reason-to-wait";

/** The process that executes a run beats every three seconds; after this long without, something is wrong. */
const SILENT_MS = 15_000;
const LOOK_EVERY_MS = 5_000;

function usePulse(run: Pick<RunDetail, "id">): Pulse | undefined {
  const trpc = useTRPC();
  const { data } = useQuery({
    ...trpc.runs.pulse.queryOptions({ runId: run.id }),
    refetchInterval: LOOK_EVERY_MS,
    staleTime: LOOK_EVERY_MS,
  });
  return data;
}

/** Whether the process that executes a run is heard of: the difference between slow and hanging. */
export function Liveness({ run }: { run: Pick<RunDetail, "id" | "waiting"> }) {
  const pulse = usePulse(run);
  if (run.waiting)
    return <span>it gave its place to another organization's run, and goes on in its turn</span>;
  if (pulse?.silentMs === undefined || pulse.silentMs === null) return null;
  if (pulse.silentMs < SILENT_MS)
    return <span className="ml-auto whitespace-nowrap text-completed">alive</span>;
  return (
    <span className="text-failed">
      Nothing heard of it for {formatDuration(pulse.silentMs)}. If the process that executes it is gone,
      another one goes on with it after a minute.
    </span>
  );
}

/** What a run waits for that has not begun. */
export function Queued({ run }: { run: Pick<RunDetail, "id"> }) {
  const queue = usePulse(run)?.queue;
  return (
    <>
      <p>
        {queue ? reasonToWait(queue) : "The run starts when a place is free."} Steps appear here by
        themselves.
      </p>
      {queue && queue.taken > 0 ? (
        <p>
          <Link className="text-accent underline" href="/runs?status=Running" prefetch={false}>
            See what runs now
          </Link>
        </p>
      ) : null}
    </>
  );
}
