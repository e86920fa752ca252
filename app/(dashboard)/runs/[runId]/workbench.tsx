"use client";

import { useMemo, useRef, useState } from "react";
import { Button } from "@/app/_ui/button";
import { serverTime } from "@/app/_ui/data/server-clock";
import { isTerminal } from "@/server/contract/enums";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import { Inspector } from "./inspector/inspector";
import { isWork, type Line, lineFacts, lineId, type WaitLine, type WorkLine, withWaits } from "./lines";
import { TimelineKeyboard } from "./timeline/keys";
import { foldLines } from "./timeline/line-folds";
import type { Measure } from "./timeline/measures";
import { scaleOf, type TimeRange } from "./timeline/scale";
import { TimelineSummary } from "./timeline/summary";
import { initialRange, rangeAround } from "./timeline/time-range";
import { Timeline } from "./timeline/timeline";
import { TimelineTools } from "./timeline/toolbar";
import type { Choice } from "./timeline/use-chosen-line";
import { useFind } from "./timeline/use-find";
import { useFolds } from "./timeline/use-folds";
import type { Unfolding } from "./timeline/use-unfolding";

/** The timeline and the inspector of a run's page. */
export function Workbench({
  run,
  lines,
  waits,
  own,
  choice: { line: chosen, latest, following, missing, choose: onChoose, stay },
  reserve,
  unfolding,
}: {
  run: RunDetail;
  /** All lines, including expanded and collapsible ones; the waits between them; the run's own work. */
  lines: Exclude<Line, WaitLine>[];
  waits: WaitLine[];
  own: WorkLine[];
  choice: Choice;
  /** Keeps space for what may appear while the reader watches. */
  reserve: boolean;
  unfolding: Unfolding;
}) {
  const [measure, setMeasure] = useState<Measure>("time");
  const [failedOnly, setFailedOnly] = useState(false);
  const [range, setRange] = useState<TimeRange | null>(() =>
    chosen?.kind === "wait" ? null : initialRange(run),
  );
  const folds = useFolds(lines, chosen, onChoose);
  const single = useMemo(
    () =>
      withWaits(
        lines.filter(({ kind }) => kind !== "group"),
        waits,
      ),
    [lines, waits],
  );
  const arranged = useMemo(
    () => withWaits(foldLines(lines, folds.folded), waits),
    [lines, waits, folds.folded],
  );
  const finder = useFind(run, single);
  const field = useRef<HTMLInputElement>(null);
  const failed = lines.filter((line) => isWork(line) && lineFacts(line).status === "Failed");
  const onlyFailed = failedOnly && failed.length > 0;
  // Search results are shown even inside collapsed lines.
  const shown =
    onlyFailed || finder.text.trim() !== ""
      ? (onlyFailed ? failed : single).filter(finder.matches)
      : arranged;
  const focusWanted = useRef<string | null>(null);

  const go = (line: Line | undefined) => {
    if (!line) return;
    focusWanted.current = lineId(line);
    onChoose(line);
  };
  const step = (by: 1 | -1) => {
    // Keys may arrive faster than the page renders.
    const from = latest();
    const at = from ? shown.findIndex((line) => lineId(line) === lineId(from)) : -1;
    go(shown[at < 0 ? 0 : Math.min(shown.length - 1, Math.max(0, at + by))]);
  };
  const zoom = () => {
    const now = serverTime();
    if (chosen) setRange(rangeAround(chosen, scaleOf(run, { lines: shown, measure: "time", now }), now));
    setMeasure("time");
  };

  return (
    <div className="border-line border-t lg:grid lg:grid-cols-[minmax(0,5fr)_minmax(0,6fr)]">
      <div className="relative border-line max-lg:border-b lg:border-r">
        <div className="lg:sticky lg:top-0">
          <TimelineTools
            failed={failed.length}
            failedOnly={onlyFailed}
            field={field}
            find={finder.text}
            found={finder.describe(shown.length)}
            measure={measure}
            onEnter={() => go(shown[0])}
            onFailedOnly={setFailedOnly}
            onFind={finder.setText}
            onMeasure={setMeasure}
            reserve={reserve}
          />
          <TimelineSummary lines={own} measure={measure} onShow={onChoose} reserve={reserve} run={run} />
          <Timeline
            chosen={chosen}
            folds={folds}
            focusWanted={focusWanted}
            following={following}
            latest={latest}
            lines={shown}
            measure={measure}
            onChoose={onChoose}
            onLeave={stay}
            onRangeChange={setRange}
            onZoom={zoom}
            reserve={reserve}
            run={run}
            range={range}
            unfolding={unfolding}
          />
          {shown.length === 0 ? <p className="px-4 py-4 text-muted sm:px-6">{finder.nothing}</p> : null}
        </div>
        {!isTerminal(run.status) && !following ? (
          <div className="sticky bottom-4 flex justify-center">
            <Button className="shadow-raised" onClick={() => onChoose(null)}>
              Follow the newest step
            </Button>
          </div>
        ) : null}
      </div>
      <div className="min-w-0" data-arrows-scroll>
        {missing ? (
          <p className="px-4 pt-3 text-muted sm:px-6" role="status">
            This run has no {missing}
            {isTerminal(run.status) ? "" : " yet"}.
          </p>
        ) : null}
        {chosen ? (
          <Inspector
            line={chosen}
            onShow={onChoose}
            searchText={finder.searchText}
            runError={(run.status === "Failed" && chosen.runId === run.id && run.errorMessage) || ""}
            unfolding={unfolding}
          />
        ) : null}
      </div>
      <TimelineKeyboard
        keys={{
          step,
          find: () => field.current?.focus(),
          failedOnly: () => setFailedOnly(!failedOnly && failed.length > 0),
          measure: setMeasure,
          zoom,
          showAll: () => setRange(null),
          foldAll: folds.toggleAll,
        }}
      />
    </div>
  );
}
