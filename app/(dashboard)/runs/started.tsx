import { useNow, useTimeZone } from "@/app/_ui/data/clock";
import { formatAge, formatExact, NONE } from "@/app/_ui/figures/format";
import { Ago } from "@/app/_ui/figures/time";
import type { RunSummary } from "@/server/runs/read/list";

type Times = Pick<RunSummary, "createdAt" | "startedAt" | "finishedAt">;

/** The start of a run; its time in the queue if it has not started; a dash if it ended before it started. */
export function Started({ run }: { run: Times }) {
  if (run.startedAt !== null) return <Ago at={run.startedAt} />;
  if (run.finishedAt !== null) return <span title="It ended before it started.">{NONE}</span>;
  return <QueuedFor since={run.createdAt} />;
}

export function QueuedFor({ since }: { since: string }) {
  const now = useNow();
  return <>queued {formatAge(now - new Date(since).getTime())}</>;
}

/** A run's exact times, one per line, for a title attribute. */
export function useExactTimes({ createdAt, startedAt, finishedAt }: Times): string {
  const timeZone = useTimeZone();
  return Object.entries({ Created: createdAt, Started: startedAt, Finished: finishedAt })
    .flatMap(([name, at]) => (at === null ? [] : `${name} ${formatExact(new Date(at), timeZone)}`))
    .join("\n");
}

/** The source of a run: `webhook inbound`, `key ci`, `Ada`. */
export function describeSource(run: Pick<RunSummary, "source" | "sourceName">): string {
  switch (run.source) {
    case "api":
      return `key ${run.sourceName ?? "deleted"}`;
    case "webhook":
      return `webhook ${run.sourceName ?? "deleted"}`;
    case "schedule":
      return `schedule ${run.sourceName ?? "deleted"}`;
    case "dashboard":
      return run.sourceName ?? "a former member";
    case "draft":
      return `draft of ${run.sourceName ?? "a former member"}`;
    case "operator":
      return "operator";
    case "run":
      return `run of ${run.sourceName ?? "a deleted run"}`;
  }
}
