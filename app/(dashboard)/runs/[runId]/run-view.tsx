"use client";

import { useSearchParams } from "next/navigation";
import { useMemo, useState } from "react";
import type { FirstView } from "@/app/_ui/text/markdown/first-view";
import { isTerminal } from "@/server/contract/enums";
import type { RunInspection } from "@/server/runs/read/inspect/inspect";
import { RunFacts } from "./header/facts";
import { RunHeader } from "./header/header";
import { attemptsToUnfold, readAddress, runToUnfold } from "./line-address";
import { linesOf, waitsOf, withAttempts, withWaits } from "./lines";
import { Failure } from "./result/failure";
import { RunTexts } from "./result/texts";
import { withGroups } from "./timeline/line-folds";
import { NoLines } from "./timeline/no-lines";
import { useChosenLine } from "./timeline/use-chosen-line";
import { useUnfolding } from "./timeline/use-unfolding";
import { useLiveRun } from "./use-live-run";
import { Workbench } from "./workbench";

/** The page of one run: input, output and every step. */
export function RunView({ runId, answer }: { runId: string; answer: FirstView | null }) {
  const inspection = useLiveRun(runId);
  const { run } = inspection;
  const address = readAddress(useSearchParams());
  const inner = runToUnfold(address, inspection.steps);
  const { runs, attempts, unfolding } = useUnfolding({
    run: inner,
    attempts: attemptsToUnfold(address),
  });
  const own = useMemo(() => linesOf(inspection), [inspection]);
  const lines = useMemo(
    () => withGroups(withAttempts(linesOf(inspection, runs), attempts)),
    [inspection, runs, attempts],
  );
  const waits = useMemo(() => waitsOf(inspection.run), [inspection.run]);
  const wasLive = useWasTrue(!isTerminal(run.status));
  const loading = inner !== null && !runs.has(inner);
  const choice = useChosenLine(run, { lines: withWaits(lines, waits), own, wasLive, loading });

  const failure =
    run.status === "Failed" ? (
      <Failure chosen={choice.line} lines={own} onShow={choice.choose} run={run} />
    ) : null;
  return (
    <article>
      <RunHeader reserve={wasLive} run={run} />
      <div className="lg:grid lg:grid-cols-[minmax(0,1fr)_20rem]">
        <RunTexts answer={answer} calls={inspection.calls} failure={failure} reserve={wasLive} run={run} />
        <RunFacts iterations={iterationsOf(inspection)} run={run} />
      </div>
      {own.length === 0 ? (
        <NoLines run={run} />
      ) : (
        <Workbench
          choice={choice}
          lines={lines}
          own={own}
          reserve={wasLive}
          run={run}
          unfolding={unfolding}
          waits={waits}
        />
      )}
    </article>
  );
}

function iterationsOf({ calls }: RunInspection): number {
  return calls.reduce((most, { iteration }) => Math.max(most, iteration), 0);
}

/** Whether `value` has been true at any time since the component was mounted. */
function useWasTrue(value: boolean): boolean {
  const [was, setWas] = useState(value);
  if (value && !was) setWas(true);
  return was || value;
}
