"use client";

import { useQuery } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { StatusShape } from "@/app/_ui/figures/status";
import { JsonView } from "@/app/_ui/json/view";
import { SkeletonLine } from "@/app/_ui/page/page";
import { isTerminal } from "@/server/contract/enums";
import { InspectedOutcome } from "../../_run/run-outcome";
import { describeSkip } from "../../runs/[runId]/describe-skip";
import { LineDuration } from "../../runs/[runId]/inspector/parts";
import { linesOf, type WorkLine } from "../../runs/[runId]/lines";
import { useLiveRun } from "../../runs/[runId]/use-live-run";

/** A run with the output of each of its steps. */
export function StepResults({ runId, onEnd }: { runId: string; onEnd: (runId: string) => void }) {
  const inspection = useLiveRun(runId);
  const isOver = isTerminal(inspection.run.status);
  const report = useEffectEvent(onEnd);
  useEffect(() => {
    if (isOver) report(runId);
  }, [isOver, runId]);
  const steps = linesOf(inspection).filter((line) => line.kind === "step");
  return (
    <div className="flex flex-col gap-3">
      <InspectedOutcome inspection={inspection} />
      <ol aria-label="Results of the steps" className="flex flex-col">
        {steps.map((line) => (
          <li className="border-line border-t" key={line.step.id}>
            {line.step.skipped ? (
              <p className="flex min-h-9 items-baseline gap-2 py-2 text-muted">
                <StatusShape status="Skipped" />
                <span className="min-w-0 [overflow-wrap:anywhere]">
                  <span className="mono">{line.label}</span> {describeSkip(line.step.skipped)}
                </span>
              </p>
            ) : (
              <details>
                <summary className="flex min-h-9 cursor-pointer items-center gap-2 hover:bg-hover">
                  <StatusShape status={line.step.status} />
                  <span className="mono min-w-0 flex-1 truncate">{line.label}</span>
                  <span className="text-muted">
                    <LineDuration line={line.step} />
                  </span>
                </summary>
                <Result line={line} />
              </details>
            )}
          </li>
        ))}
      </ol>
    </div>
  );
}

function Result({ line: { runId, step } }: { line: WorkLine & { kind: "step" } }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.runs.step.queryOptions({ runId, stepId: step.id }));
  if (query.isError) return <p className="pb-2 text-failed">{describeError(query.error).message}</p>;
  if (!query.data) return <SkeletonLine className="mb-2 w-40" />;
  const { input, output, errorMessage } = query.data;
  return (
    <div className="flex flex-col gap-2 pb-3 pl-6">
      {errorMessage === null ? null : <p className="text-failed [overflow-wrap:anywhere]">{errorMessage}</p>}
      <div>
        <h3 className="text-muted text-xs">Input</h3>
        <JsonView cut={input.cut} text={input.text} />
      </div>
      {output === null ? null : (
        <div>
          <h3 className="text-muted text-xs">Output</h3>
          <JsonView cut={output.cut} text={output.text} />
        </div>
      )}
    </div>
  );
}
