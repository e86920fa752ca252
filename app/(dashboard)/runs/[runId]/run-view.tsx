"use client";

import { useRef } from "react";
import { Button } from "@/app/_ui/button";
import { Empty } from "@/app/_ui/page/page";
import type { FirstView } from "@/app/_ui/text/markdown/first-view";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import { RunFacts } from "./header/facts";
import { RunHeader } from "./header/header";
import { Queued } from "./header/liveness";
import { Inspector } from "./inspector/inspector";
import { RunTexts } from "./result/texts";
import { TimelineSummary } from "./timeline/summary";
import { Timeline } from "./timeline/timeline";
import { TimelineTools } from "./timeline/toolbar";
import { useTimelineKeys } from "./timeline/use-timeline-keys";
import { useLiveRun } from "./use-live-run";
import { useWorkbench, type Workbench } from "./use-workbench";

export function RunView({ runId, answer }: { runId: string; answer: FirstView | null }) {
  const inspection = useLiveRun(runId);
  const { run, calls } = inspection;
  const bench = useWorkbench(inspection);
  const { own, reserve } = bench;
  return (
    <article>
      <RunHeader reserve={reserve} run={run} />
      <div className="flex flex-col max-lg:flex-col-reverse">
        <RunFacts calls={calls} run={run} />
        <RunTexts answer={answer} bench={bench} calls={calls} />
      </div>
      {own.length === 0 ? <NoLines run={run} /> : <TimelineAndInspector bench={bench} />}
    </article>
  );
}

function NoLines({ run }: { run: RunDetail }) {
  if (run.status === "Pending") {
    return (
      <Empty title="Queued">
        <Queued run={run} />
      </Empty>
    );
  }
  const [title, text] =
    run.status === "Running"
      ? ["Started", "The first step is about to start."]
      : ["No steps", "The run ended before its first step."];
  return (
    <Empty title={title}>
      <p>{text}</p>
    </Empty>
  );
}

function TimelineAndInspector({ bench }: { bench: Workbench }) {
  const { run, live, own, shown, finder, chosen, following, missing, choose, measure, reserve } = bench;
  const field = useRef<HTMLInputElement>(null);
  const help = useTimelineKeys(bench, field);
  return (
    <div className="border-line border-t lg:grid lg:grid-cols-[minmax(0,5fr)_minmax(0,6fr)]">
      <div className="relative border-line max-lg:border-b lg:border-r">
        <div className="lg:sticky lg:top-0">
          <TimelineTools bench={bench} field={field} />
          <TimelineSummary lines={own} measure={measure} onShow={choose} reserve={reserve} run={run} />
          <Timeline bench={bench} />
          {shown.length === 0 ? <p className="px-4 py-4 text-muted sm:px-6">{finder.nothing}</p> : null}
        </div>
        {live && !following ? (
          <div className="sticky bottom-4 flex justify-center">
            <Button className="shadow-raised" onClick={() => choose(null)}>
              Follow the newest step
            </Button>
          </div>
        ) : null}
      </div>
      <div className="min-w-0" data-arrows-scroll>
        {missing ? (
          <p className="px-4 pt-3 text-muted sm:px-6" role="status">
            This run has no {missing}
            {live ? " yet" : ""}.
          </p>
        ) : null}
        {chosen ? <Inspector bench={bench} line={chosen} /> : null}
      </div>
      {help}
    </div>
  );
}
