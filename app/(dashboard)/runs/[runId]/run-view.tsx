"use client";

import { useSearchParams } from "next/navigation";
import { useCallback, useMemo, useState } from "react";
import { Button } from "@/app/_ui/button";
import { Empty } from "@/app/_ui/page";
import { isTerminal } from "@/server/runs/words";
import { Failure } from "./failure";
import { Inspector } from "./inspector";
import { RunHeader } from "./run-header";
import { RunTexts } from "./run-texts";
import { Timeline } from "./timeline";
import { chooseLine, type Line, linesOf } from "./timeline-lines";
import { useLiveRun } from "./use-live-run";

/** The page of one run: what it was asked, what came of it, and every step on the way. */
export function RunView({ runId }: { runId: string }) {
  const inspection = useLiveRun(runId);
  const { run } = inspection;
  const params = useSearchParams();
  const lines = useMemo(() => linesOf(inspection), [inspection]);
  const address = { step: params.get("step") ?? undefined, call: params.get("call") ?? undefined };
  const named = address.step !== undefined || address.call !== undefined;
  const live = !isTerminal(run.status);
  const wasLive = useWasTrue(live);
  // A run that was followed to its end shows what it ended with.
  const atEnd = wasLive && !named && run.status === "Completed";
  const chosen = atEnd ? (lines.at(-1) ?? null) : chooseLine(lines, address, run);

  const choose = useCallback((line: Line | null) => {
    const url = new URL(window.location.href);
    url.searchParams.delete("step");
    url.searchParams.delete("call");
    if (line) url.searchParams.set(line.kind, line.slug);
    window.history.replaceState(null, "", url);
  }, []);

  const failure =
    run.status === "Failed" ? <Failure chosen={chosen} lines={lines} onShow={choose} run={run} /> : null;
  return (
    <article>
      <RunHeader run={run} />
      {failure && !wasLive ? failure : null}
      <RunTexts failure={wasLive ? failure : null} reserve={wasLive} run={run} />
      {lines.length === 0 ? (
        <NoLines status={run.status} />
      ) : (
        <div className="border-line border-t lg:grid lg:grid-cols-[minmax(0,5fr)_minmax(0,6fr)]">
          <div className="relative border-line max-lg:border-b lg:border-r">
            <Timeline chosen={chosen} lines={lines} onChoose={choose} run={run} />
            {live && named ? (
              <div className="sticky bottom-4 flex justify-center">
                <Button className="shadow-raised" onClick={() => choose(null)}>
                  Follow the newest step
                </Button>
              </div>
            ) : null}
          </div>
          <div className="min-w-0">{chosen ? <Inspector line={chosen} run={run} /> : null}</div>
        </div>
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

function NoLines({ status }: { status: string }) {
  if (status === "Pending") {
    return (
      <Empty title="Queued">
        <p>The run starts when a place is free. Steps appear here by themselves.</p>
      </Empty>
    );
  }
  if (status === "Running") {
    return (
      <Empty title="Started">
        <p>The first step is about to begin.</p>
      </Empty>
    );
  }
  return (
    <Empty title="No steps">
      <p>The run ended before its first step.</p>
    </Empty>
  );
}
