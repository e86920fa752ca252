"use client";

import { useSearchParams } from "next/navigation";
import { useCallback, useMemo, useState } from "react";
import { isTerminal } from "@/server/runs/words";
import { Failure } from "./failure";
import { NoLines } from "./no-lines";
import { RunHeader } from "./run-header";
import { RunTexts } from "./run-texts";
import {
  attemptsToUnfold,
  chooseLine,
  type Line,
  linesOf,
  readAddress,
  runToUnfold,
  waitsOf,
  withAttempts,
  withWaits,
  writeAddress,
} from "./timeline-lines";
import { useLiveRun } from "./use-live-run";
import { useUnfolding } from "./use-unfolding";
import { Workbench } from "./workbench";

/** The page of one run: what it was asked, what came of it, and every step on the way. */
export function RunView({ runId }: { runId: string }) {
  const inspection = useLiveRun(runId);
  const { run } = inspection;
  const params = useSearchParams();
  const address = readAddress(params);
  const { runs, attempts, unfolding } = useUnfolding({
    run: runToUnfold(address, inspection.steps),
    attempts: attemptsToUnfold(address),
  });
  const own = useMemo(() => linesOf(inspection), [inspection]);
  const lines = useMemo(
    () => withWaits(withAttempts(linesOf(inspection, runs), attempts), waitsOf(inspection.run)),
    [inspection, runs, attempts],
  );
  const named = Object.values(address).some((part) => part !== undefined);
  const live = !isTerminal(run.status);
  const wasLive = useWasTrue(live);
  // A run that was followed to its end shows what it ended with.
  const atEnd = wasLive && !named && run.status === "Completed";
  const chosen = atEnd ? (own.at(-1) ?? null) : chooseLine(lines, address, run);

  const choose = useCallback((line: Line | null) => {
    const url = new URL(window.location.href);
    writeAddress(url.searchParams, line);
    window.history.replaceState(null, "", url);
  }, []);

  const failure =
    run.status === "Failed" ? <Failure chosen={chosen} lines={own} onShow={choose} run={run} /> : null;
  return (
    <article>
      <RunHeader reserve={wasLive} run={run} />
      {failure && !wasLive ? failure : null}
      <RunTexts failure={wasLive ? failure : null} reserve={wasLive} run={run} />
      {own.length === 0 ? (
        <NoLines run={run} />
      ) : (
        <Workbench
          chosen={chosen}
          following={live && !named}
          lines={lines}
          onChoose={choose}
          own={own}
          run={run}
          unfolding={unfolding}
        />
      )}
    </article>
  );
}

/** Whether `value` has been true since this component is shown. */
function useWasTrue(value: boolean): boolean {
  const [was, setWas] = useState(value);
  if (value && !was) setWas(true);
  return was || value;
}
