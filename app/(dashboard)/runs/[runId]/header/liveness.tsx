"use client";

import { useQuery } from "@tanstack/react-query";
import { formatDuration } from "@/app/_ui/format";
import { Link } from "@/app/_ui/link";
import { useTRPC } from "@/app/_ui/providers";
import type { RunDetail } from "@/server/runs/read/inspect";
import type { Liveness as LivenessFacts } from "@/server/runs/read/liveness";
import { reasonToWait } from "./reason-to-wait";

/** Workers report every half second, and silent ones are replaced within 3 s; after this long, no process is left to do so. */
const SILENT_MS = 15_000;
const LOOK_EVERY_MS = 5_000;

function useLiveness(run: Pick<RunDetail, "id">): LivenessFacts | undefined {
  const trpc = useTRPC();
  const { data } = useQuery({
    ...trpc.runs.liveness.queryOptions({ runId: run.id }),
    refetchInterval: LOOK_EVERY_MS,
    staleTime: LOOK_EVERY_MS,
  });
  return data;
}

/** Whether the process that executes a run still reports: the difference between slow and hanging. */
export function Liveness({ run }: { run: Pick<RunDetail, "id" | "waiting"> }) {
  const liveness = useLiveness(run);
  if (run.waiting)
    return <span>it yielded its slot to another organization's run and waits for a free one</span>;
  if (liveness?.silentMs === undefined || liveness.silentMs === null) return null;
  if (liveness.silentMs < SILENT_MS)
    return <span className="ml-auto whitespace-nowrap text-completed">alive</span>;
  return (
    <span className="text-failed">
      Its process has not reported for {formatDuration(liveness.silentMs)}. Another process continues the run
      as soon as one is running.
    </span>
  );
}

/** What a run waits for that has not begun. */
export function Queued({ run }: { run: Pick<RunDetail, "id"> }) {
  const queue = useLiveness(run)?.queue;
  return (
    <>
      <p>
        {queue ? reasonToWait(queue) : "The run starts when a slot is free."} Steps appear here automatically.
      </p>
      {queue && queue.taken > 0 ? (
        <p>
          <Link className="text-accent underline" href="/runs?status=Running">
            Show running runs
          </Link>
        </p>
      ) : null}
    </>
  );
}
