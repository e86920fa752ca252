import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatCredits } from "@/app/_ui/figures/format";
import { Status, StatusShape } from "@/app/_ui/figures/status";
import { Elapsed } from "@/app/_ui/figures/time";
import { Link } from "@/app/_ui/link";
import { isTerminal } from "@/server/contract/enums";
import type { RunInspection } from "@/server/runs/read/inspect/inspect";
import { workRowsOf } from "../runs/[runId]/lines";
import { explainRunFailure } from "../runs/[runId]/result/explain-failure";
import { OutputText } from "../runs/[runId]/result/texts";
import { useLiveRun } from "../runs/[runId]/use-live-run";
import { CancelRunButton } from "../runs/cancel-run-button";

/** A run while it executes and when it has ended: status, steps, result. */
export function RunOutcome({ runId }: { runId: string }) {
  return <InspectedOutcome inspection={useLiveRun(runId)} />;
}

type InspectedOutcomeProps = {
  inspection: RunInspection;
  nameOf?: (label: string) => string;
};

/** The same for a run that the caller follows already: each `useLiveRun` opens a stream. */
export function InspectedOutcome({ inspection, nameOf = (label) => label }: InspectedOutcomeProps) {
  const { run } = inspection;
  const lines = workRowsOf(inspection);
  useRefreshedRuns(run.status);
  return (
    <div className="flex flex-col gap-2">
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-1">
        {/* Not the whole result: its times change many times a second. */}
        <span aria-live="polite">
          <Status status={run.status} waiting={run.waiting} />
        </span>
        <span className="text-muted tabular-nums">
          <Elapsed from={run.startedAt} lively to={run.finishedAt} />
        </span>
        {Number(run.creditsWithChildren) === 0 ? null : (
          <span className="text-muted">{formatCredits(run.creditsWithChildren)} credits</span>
        )}
        <Link className="text-accent hover:underline" href={`/runs/${run.id}`}>
          Open run
        </Link>
        {isTerminal(run.status) ? null : <CancelRunButton className="ml-auto" run={run} />}
      </div>
      {lines.length === 0 ? null : (
        <ol className="flex flex-wrap items-center gap-x-3 gap-y-0.5 text-muted text-xs">
          {lines.map(({ id, status, label }) => (
            <li className="flex items-center gap-1.5" key={id}>
              <StatusShape status={status} />
              {nameOf(label)}
            </li>
          ))}
        </ol>
      )}
      {run.output ? (
        <div className="min-w-0">
          <OutputText run={run} text={run.output} />
        </div>
      ) : null}
      {run.status === "Failed" ? (
        <div className="text-failed">
          <p className="font-medium">{explainRunFailure(run, null).sentence}</p>
          <p className="[overflow-wrap:anywhere]">{run.errorMessage}</p>
        </div>
      ) : null}
    </div>
  );
}

function useRefreshedRuns(status: string) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const keys = [trpc.runs.list.pathKey(), trpc.runs.metrics.pathKey()];
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new status changes the lists.
  useEffect(() => {
    for (const queryKey of keys) void queryClient.invalidateQueries({ queryKey });
  }, [status]);
}
