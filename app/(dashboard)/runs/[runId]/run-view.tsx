"use client";

import { useSearchParams } from "next/navigation";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Button } from "@/app/_ui/button";
import { Empty } from "@/app/_ui/page";
import { isTerminal } from "@/server/runs/words";
import { Failure } from "./failure";
import { Inspector } from "./inspector";
import { RunHeader } from "./run-header";
import { RunTexts } from "./run-texts";
import { Timeline } from "./timeline";
import { chooseLine, type Line, lineId, linesOf } from "./timeline-lines";
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
  const [wasLive, setWasLive] = useState(live);
  // A run that ended while somebody watched it keeps the line they saw last.
  const lastFollowed = useRef<string | null>(null);
  const chosen =
    !named && !live && wasLive && run.status === "Completed"
      ? (lines.find((line) => lineId(line) === lastFollowed.current) ?? chooseLine(lines, address, run))
      : chooseLine(lines, address, run);
  useEffect(() => {
    if (live) setWasLive(true);
    if (live && !named) lastFollowed.current = chosen ? lineId(chosen) : null;
  });

  const choose = useCallback((line: Line | null) => {
    const url = new URL(window.location.href);
    url.searchParams.delete("step");
    url.searchParams.delete("call");
    if (line) url.searchParams.set(line.kind, line.slug);
    window.history.replaceState(null, "", url);
  }, []);

  return (
    <article>
      <RunHeader run={run} />
      {run.status === "Failed" ? <Failure chosen={chosen} onShow={choose} lines={lines} run={run} /> : null}
      <RunTexts run={run} />
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
          <div className="min-w-0">
            {chosen ? <Inspector key={lineId(chosen)} line={chosen} run={run} /> : null}
          </div>
        </div>
      )}
    </article>
  );
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
