import { useQueryClient } from "@tanstack/react-query";
import clsx from "clsx";
import { type KeyboardEvent, useEffect, useRef } from "react";
import { useNow } from "@/app/_ui/data/clock";
import { useTRPC } from "@/app/_ui/data/providers";
import { prefetchLine } from "../line-query";
import type { Line } from "../lines";
import type { Workbench } from "../use-workbench";
import { Axis } from "./axis";
import { TimelineRow } from "./row";
import { barOf, scaleOf, scaleOfRange } from "./scale";
import { ROW_HEIGHT, useRowWindow, useScrollIntoView } from "./scrolling";

const MOVES: Record<string, number> = {
  ArrowDown: 1,
  ArrowUp: -1,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

/**
 * The timeline of model calls, steps, attempts and waits. Arrow keys move between rows. Only visible rows are
 * drawn.
 */
export function Timeline({ bench }: { bench: Workbench }) {
  const { run, live, shown, chosen, latest, choose, measure, range, reservesOutput, focusWanted } = bench;
  const list = useRef<HTMLDivElement>(null);
  const now = useNow(live);
  const preload = usePreload();
  const full = scaleOf(run, { lines: shown, measure, now });
  const zoomed = measure === "time" ? range : null;
  const scale = zoomed ? scaleOfRange(zoomed) : full;
  const chosenId = chosen?.id;
  const chosenAt = shown.findIndex(({ id }) => id === chosenId);
  const { first, end } = useRowWindow(list, shown.length);
  useScrollIntoView(list, chosenAt, bench);

  useEffect(() => {
    if (chosenId === undefined || focusWanted.current !== chosenId) return;
    const row = document.getElementById(`line-${chosenId}`);
    if (!row) return;
    focusWanted.current = null;
    row.focus({ preventScroll: true });
    // For widths at which the page scrolls, not the list.
    row.scrollIntoView({ block: "nearest" });
  });

  function onKey(event: KeyboardEvent) {
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      const selected = latest();
      const row = shown.find(({ id }) => id === selected?.id);
      if (!row || bench.isOpen(row) === null) return;
      bench.setOpen(row, event.key === "ArrowRight");
    } else {
      const by = MOVES[event.key];
      if (by === undefined || event.metaKey || event.ctrlKey || event.altKey) return;
      bench.move(by);
    }
    event.preventDefault();
  }

  return (
    <div className="@container/timeline relative">
      <Axis bench={bench} full={full} range={zoomed} scale={scale} />
      <div
        aria-label="Timeline"
        className={clsx(
          "relative overflow-y-auto max-lg:max-h-[40dvh] lg:max-h-[calc(100dvh-7.75rem)]",
          // As high with few rows as with many, if something is below.
          reservesOutput && "max-lg:min-h-[40dvh]",
        )}
        onKeyDown={onKey}
        ref={list}
        role="listbox"
      >
        {/* Keeps the list's height while rows are replaced. Removing the focused row makes browsers lay out in between,
            and a shorter list would scroll. */}
        <Space className="pointer-events-none absolute top-0 left-0" rows={shown.length} />
        <Space rows={first} />
        {shown.slice(first, end).map((line, index) => (
          <TimelineRow
            aria-posinset={first + index + 1}
            aria-selected={line.id === chosenId}
            aria-setsize={shown.length}
            bar={barOf(line, { scale, range: zoomed, now })}
            key={line.id}
            line={line}
            onClick={() => choose(line)}
            onPointerEnter={() => preload(line)}
            onUnfold={() => bench.setOpen(line, !bench.isOpen(line))}
            // Tab stops at the selected row, if it is drawn.
            tabIndex={index === (chosenAt < first || chosenAt >= end ? 0 : chosenAt - first) ? 0 : -1}
            unfolded={bench.isOpen(line)}
          />
        ))}
        <Space rows={shown.length - end} />
      </div>
    </div>
  );
}

/** A pointer that passes over a row fetches nothing. */
const DWELL_MS = 60;

function usePreload(): (line: Line) => void {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (line) => {
    clearTimeout(timer.current);
    // A line that still changes is fetched when it is opened.
    if (line.status === "Running" || line.status === "Waiting") return;
    timer.current = setTimeout(() => void prefetchLine({ queryClient, trpc }, line), DWELL_MS);
  };
}

/** An SVG, because its height is an attribute: the content security policy blocks inline styles from the server. */
function Space({ rows, className = "block" }: { rows: number; className?: string }) {
  if (rows <= 0) return null;
  return (
    <svg aria-hidden="true" className={className} height={rows * ROW_HEIGHT} role="presentation" width="1" />
  );
}
