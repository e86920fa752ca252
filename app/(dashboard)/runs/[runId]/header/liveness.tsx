import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatDuration, formatPlural } from "@/app/_ui/figures/format";
import { Moment } from "@/app/_ui/figures/time";
import { Link } from "@/app/_ui/link";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import type { Liveness as LivenessFacts } from "@/server/runs/read/liveness";

/** Workers report every half second and are replaced after 3 s. After this long, no process is left to replace them. */
const SILENT_MS = 15_000;
const POLL_EVERY_MS = 5_000;

function useLiveness({ id: runId }: Pick<RunDetail, "id">): LivenessFacts | undefined {
  const options = useTRPC().runs.liveness.queryOptions({ runId });
  return useQuery({ ...options, refetchInterval: POLL_EVERY_MS, staleTime: POLL_EVERY_MS }).data;
}

/** A warning if the process that executes the run is slow to report, or has stalled. */
export function Liveness({ run }: { run: Pick<RunDetail, "id" | "waiting"> }) {
  const liveness = useLiveness(run);
  if (run.waiting) return <span>it waits for a free slot</span>;
  if (liveness?.wakeAt)
    return (
      <span>
        it waits without a slot until <Moment at={liveness.wakeAt} />
      </span>
    );
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

/** The reason why a queued run has not started. */
export function Queued({ run }: { run: Pick<RunDetail, "id"> }) {
  const queue = useLiveness(run)?.queue;
  return (
    <>
      <p>
        {queue ? queueReason(queue) : "The run starts when a slot is free."} Steps appear here automatically.
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

export function queueReason({ ahead, slots, taken }: NonNullable<LivenessFacts["queue"]>): string {
  const before = ahead === 0 ? "this run is next" : `${formatPlural(ahead, "run")} will start first`;
  if (taken >= slots) {
    return slots === 1
      ? `The plan's only slot is taken; ${before}.`
      : `All ${slots} slots of the plan are taken; ${before}.`;
  }
  return ahead === 0
    ? "A slot is free. The run is about to start."
    : `The plan has free slots, but the server is busy; ${before}.`;
}
