"use client";

import clsx from "clsx";
import { type KeyboardEvent, type RefObject, useEffect, useRef } from "react";
import { useNow } from "@/app/_ui/figures/time";
import { isTerminal } from "@/server/contract/enums";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import { usePreload } from "../inspector/use-preload";
import { type Line, lineId } from "../lines";
import { Axis } from "./axis";
import type { Measure } from "./measures";
import { TimelineRow } from "./row";
import { barOf, scaleOf, type TimeRange } from "./scale";
import { scaleOfRange } from "./time-range";
import type { Folds } from "./use-folds";
import { useRowWindow } from "./use-row-window";
import { useScrollIntoView } from "./use-scroll-into-view";
import { canUnfold, type Unfolding } from "./use-unfolding";

/** In pixels. */
const ROW_HEIGHT = 36;

/**
 * The timeline: model calls, steps, attempts and waits, with bars by time or by another measure. Arrow keys move
 * between rows. Only visible rows are drawn.
 */
export function Timeline({
  run,
  lines,
  chosen,
  latest,
  onChoose,
  measure,
  unfolding,
  folds,
  range,
  onRangeChange,
  onZoom,
  focusWanted,
  following,
  onLeave,
  reserve,
}: {
  run: RunDetail;
  lines: Line[];
  chosen: Line | null;
  /** The selected line when a key is pressed; `chosen` may still be an earlier one. */
  latest: () => Line | null;
  onChoose: (line: Line) => void;
  measure: Measure;
  unfolding: Unfolding;
  folds: Folds;
  /** The zoomed range; null for all. */
  range: TimeRange | null;
  onRangeChange: (range: TimeRange | null) => void;
  onZoom: () => void;
  /** The id of the line to focus once it is selected and drawn. */
  focusWanted: RefObject<string | null>;
  /** Whether the newest line is selected automatically. */
  following: boolean;
  /** Called when the reader scrolls to other lines while following. */
  onLeave: () => void;
  /** Keeps the same height for few and many rows, if something is below. */
  reserve: boolean;
}) {
  const list = useRef<HTMLDivElement>(null);
  const live = !isTerminal(run.status);
  const now = useNow(live);
  const preload = usePreload();
  const full = scaleOf(run, { lines, measure, now });
  const zoomed = measure === "time" ? range : null;
  const scale = zoomed ? scaleOfRange(zoomed) : full;
  const chosenId = chosen ? lineId(chosen) : null;
  const chosenAt = lines.findIndex((line) => lineId(line) === chosenId);
  const drawn = useRowWindow(list, lines.length, ROW_HEIGHT);
  useScrollIntoView(list, chosenAt, { rowHeight: ROW_HEIGHT, following, onLeave });

  useEffect(() => {
    if (chosenId === null || focusWanted.current !== chosenId) return;
    const row = document.getElementById(`line-${chosenId}`);
    if (!row) return;
    focusWanted.current = null;
    row.focus({ preventScroll: true });
    // Where the page scrolls, not the list.
    row.scrollIntoView({ block: "nearest" });
  });

  const isOpen = (line: Line) =>
    line.holds ? !line.folded : canUnfold(line) ? unfolding.isUnfolded(line) : null;

  /** A model call may have steps and several attempts. Steps open first and close last. */
  function setOpen(line: Line, open: boolean) {
    const expands = canUnfold(line) && unfolding.isUnfolded(line) !== open;
    if (line.holds && (open ? line.folded : !expands)) folds.fold(line, !open);
    else if (expands) unfolding.fold(line, open);
  }

  function onKey(event: KeyboardEvent) {
    const from = latest();
    const at = from ? lines.findIndex((line) => lineId(line) === lineId(from)) : -1;
    const line = lines[at];
    if (line && (event.key === "ArrowRight" || event.key === "ArrowLeft")) {
      if (!line.holds && !canUnfold(line)) return;
      event.preventDefault();
      setOpen(line, event.key === "ArrowRight");
      return;
    }
    const to =
      event.key === "ArrowDown"
        ? at + 1
        : event.key === "ArrowUp"
          ? at - 1
          : event.key === "Home"
            ? 0
            : event.key === "End"
              ? lines.length - 1
              : undefined;
    if (to === undefined || event.metaKey || event.ctrlKey || event.altKey) return;
    event.preventDefault();
    const next = lines[Math.min(lines.length - 1, Math.max(0, to))];
    if (!next) return;
    focusWanted.current = lineId(next);
    onChoose(next);
  }

  return (
    <div className="@container/timeline relative">
      <Axis onRangeChange={onRangeChange} onZoom={onZoom} scale={scale} range={zoomed} full={full} />
      <div
        aria-label="Timeline"
        className={clsx(
          "relative overflow-y-auto max-lg:max-h-[40dvh] lg:max-h-[calc(100dvh-7.75rem)]",
          reserve && "max-lg:min-h-[40dvh]",
        )}
        onKeyDown={onKey}
        ref={list}
        role="listbox"
      >
        <Height rows={lines.length} />
        <Gap rows={drawn.first} />
        {lines.slice(drawn.first, drawn.end).map((line, index) => (
          <TimelineRow
            chosen={lineId(line) === chosenId}
            count={lines.length}
            onUnfold={() => setOpen(line, !isOpen(line))}
            unfolded={isOpen(line)}
            bar={barOf(line, { scale, range: zoomed, now })}
            key={lineId(line)}
            line={line}
            onChoose={onChoose}
            onPoint={() => preload(line)}
            position={drawn.first + index + 1}
            tabbable={
              index === (chosenAt < drawn.first || chosenAt >= drawn.end ? 0 : chosenAt - drawn.first)
            }
          />
        ))}
        <Gap rows={lines.length - drawn.end} />
      </div>
    </div>
  );
}

/**
 * Keeps the list's height while rows are replaced. Removing the focused row makes browsers lay out in between, and a
 * shorter list would scroll.
 */
function Height({ rows }: { rows: number }) {
  return (
    <svg
      aria-hidden="true"
      className="pointer-events-none absolute top-0 left-0"
      height={rows * ROW_HEIGHT}
      role="presentation"
      width="1"
    />
  );
}

/**
 * Space for rows that are not drawn. An SVG, because its height is an attribute: the content security policy refuses
 * inline styles from the server.
 */
function Gap({ rows }: { rows: number }) {
  return rows > 0 ? (
    <svg aria-hidden="true" className="block" height={rows * ROW_HEIGHT} role="presentation" width="1" />
  ) : null;
}
