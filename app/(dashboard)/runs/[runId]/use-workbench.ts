import { useSearchParams } from "next/navigation";
import { useCallback, useMemo, useRef, useState } from "react";
import { serverTime } from "@/app/_ui/data/server-clock";
import { isTerminal } from "@/server/contract/enums";
import type { RunInspection } from "@/server/runs/read/inspect/inspect";
import {
  attemptsToUnfold,
  chooseLine,
  describeAddress,
  isNamed,
  readLineAddress,
  runToUnfold,
  writeLineAddress,
} from "./line-address";
import {
  holdersOf,
  isWork,
  type Line,
  linesOf,
  type Row,
  rowsOf,
  startsFolded,
  waitsOf,
  withGroups,
  withWaits,
  workRowsOf,
} from "./lines";
import type { Measure } from "./measures";
import { initialRange, rangeAround, scaleOf, type TimeRange } from "./timeline/scale";
import { useFind } from "./timeline/use-find";
import { canUnfold, setIncluded, useUnfolding } from "./timeline/use-unfolding";

type Foldable = Line & Partial<Pick<Row, "folded">>;

export type Workbench = ReturnType<typeof useWorkbench>;

/**
 * State that the timeline and the inspector of a run's page share: lines, selection, folding, search, measure and zoom.
 */
export function useWorkbench(inspection: RunInspection) {
  const { run } = inspection;
  const live = !isTerminal(run.status);
  const wasLive = useWasTrue(live);
  const address = readLineAddress(useSearchParams());
  const inner = runToUnfold(address, inspection.steps);
  const { unfolded, isUnfolded, unfold } = useUnfolding({ run: inner, attempts: attemptsToUnfold(address) });
  const own = useMemo(() => workRowsOf(inspection), [inspection]);
  const lines = useMemo(() => withGroups(linesOf(inspection, unfolded)), [inspection, unfolded]);
  const waits = useMemo(() => waitsOf(run, inspection.steps), [run, inspection.steps]);
  const all = useMemo(() => withWaits(rowsOf(lines), waits), [lines, waits]);

  // The selected line: the one in the URL, the newest of a live run, or the last of a run followed to its end.
  const [stayedAt, setStayedAt] = useState<string | null>(null);
  const named = all.find((line) => isNamed(line, address));
  const stayed = all.find(({ id }) => id === stayedAt);
  const atEnd = wasLive && run.status === "Completed" ? own.at(-1) : undefined;
  const chosen = named ?? stayed ?? atEnd ?? chooseLine(all, {}, run);
  const following = live && !named && !stayed;
  const isLoading = inner !== null && !unfolded.runs.has(inner);

  /** From the URL, because keys may arrive faster than the page renders. */
  const latest = () => {
    const wanted = readLineAddress(new URLSearchParams(window.location.search));
    return all.find((each) => isNamed(each, wanted)) ?? chosen;
  };
  const choose = useCallback((next: Line | null) => {
    setStayedAt(null);
    const url = new URL(window.location.href);
    writeLineAddress(url.searchParams, next);
    window.history.replaceState(null, "", url);
  }, []);

  // Selecting a hidden line unfolds its holders. Folding a holder of the selected line selects the holder.
  const [folded, setFolded] = useState<ReadonlySet<string>>(
    () => new Set(all.filter(startsFolded).map(({ id }) => id)),
  );
  const [seenId, setSeenId] = useState<string | null>(null);
  const chosenId = chosen?.id ?? null;
  const holders = (chosenId && holdersOf(lines, chosenId)) || [];
  if (chosenId !== seenId) {
    setSeenId(chosenId);
    if (holders.some(({ id }) => folded.has(id))) {
      setFolded(holders.reduce((left, { id }) => setIncluded(left, id, false), folded));
    }
  }
  const isOpen = (line: Foldable) => {
    if (line.holds) return !line.folded;
    return canUnfold(line) ? isUnfolded(line) : null;
  };
  const setOpen = (line: Foldable, open: boolean) => {
    const expands = canUnfold(line) && isUnfolded(line) !== open;
    if (line.holds && (open ? line.folded : !expands)) {
      setFolded(setIncluded(folded, line.id, !open));
      if (!open && holders.some(({ id }) => id === line.id)) choose(line);
    } else if (expands) unfold(line, open);
  };
  const toggleAll = () => {
    const ids = all.filter(({ holds }) => holds).map(({ id }) => id);
    const fold = !ids.some((id) => folded.has(id));
    setFolded(new Set(fold ? ids : []));
    if (fold && holders[0]) choose(holders[0]);
  };

  const [failedOnly, setFailedOnly] = useState(false);
  const single = useMemo(() => all.filter(({ kind }) => kind !== "group"), [all]);
  const arranged = useMemo(() => withWaits(rowsOf(lines, folded), waits), [lines, waits, folded]);
  const finder = useFind(run.id, single);
  const failed = all.filter((line) => isWork(line) && line.status === "Failed");
  const onlyFailed = failedOnly && failed.length > 0;
  // Search results are shown even inside folded lines.
  const isFiltered = onlyFailed || finder.text.trim() !== "";
  const shown = isFiltered ? (onlyFailed ? failed : single).filter(finder.matches) : arranged;

  const focusWanted = useRef<string | null>(null);

  const [measure, setMeasure] = useState<Measure>("time");
  const [range, setRange] = useState<TimeRange | null>(() =>
    chosen?.kind === "wait" ? null : initialRange(run),
  );
  return {
    run,
    live,
    /** The page watched the run: it keeps space for what may appear, so that nothing moves. */
    reserve: wasLive,
    /** A cancelled run has no output to come. */
    reservesOutput: wasLive && run.status !== "Cancelled",
    own,
    shown,
    finder,
    failedCount: failed.length,
    onlyFailed,
    setFailedOnly,
    chosen,
    following,
    missing: named || isLoading ? null : describeAddress(address),
    latest,
    /** Null: follow the newest line. */
    choose,
    stay: () => {
      if (following && chosen) setStayedAt(chosen.id);
    },
    move: (by: number) => {
      const from = latest();
      const at = shown.findIndex(({ id }) => id === from?.id);
      const next = shown[Math.min(shown.length - 1, Math.max(0, at + by))];
      if (!next) return;
      focusWanted.current = next.id;
      choose(next);
    },
    focusWanted,
    isOpen,
    setOpen,
    toggleAll,
    measure,
    setMeasure,
    /** Null: the whole time. */
    range,
    setRange,
    zoom: () => {
      const now = serverTime();
      if (chosen) setRange(rangeAround(chosen, scaleOf(run, { lines: shown, measure: "time", now }), now));
      setMeasure("time");
    },
  };
}

function useWasTrue(value: boolean): boolean {
  const [was, setWas] = useState(value);
  if (value && !was) setWas(true);
  return was || value;
}
