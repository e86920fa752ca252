"use client";

import { type KeyboardEvent, useEffect, useRef } from "react";
import { classNames } from "@/app/_ui/class-names";
import { formatDuration } from "@/app/_ui/format";
import { SparkIcon } from "@/app/_ui/icons";
import { StatusShape } from "@/app/_ui/status";
import { useNow } from "@/app/_ui/time";
import type { RunDetail } from "@/server/runs/inspect";
import { isTerminal } from "@/server/runs/words";
import { type Line, lineFacts, lineId } from "./timeline-lines";
import { useRowWindow } from "./use-row-window";

/** Of every row, in pixels. */
const ROW_HEIGHT = 36;

/**
 * Every call of the model and every step, to scale in time; a list one walks with the arrow keys. However many there
 * are, only those in sight are drawn.
 */
export function Timeline({
  run,
  lines,
  chosen,
  onChoose,
}: {
  run: RunDetail;
  lines: Line[];
  chosen: Line | null;
  onChoose: (line: Line) => void;
}) {
  const list = useRef<HTMLDivElement>(null);
  const live = !isTerminal(run.status);
  const now = useNow(live);
  const start = new Date(run.startedAt ?? run.createdAt).getTime();
  const last = lines.reduce((latest, line) => Math.max(latest, endOf(line, now)), start);
  const end = run.finishedAt ? Math.max(new Date(run.finishedAt).getTime(), last) : Math.max(now, last);
  const span = Math.max(1, end - start);
  const chosenId = chosen ? lineId(chosen) : null;
  const chosenAt = lines.findIndex((line) => lineId(line) === chosenId);
  const drawn = useRowWindow(list, lines.length, ROW_HEIGHT);
  /** Whether the chosen row shall have the focus once it is drawn. */
  const focusWanted = useRef(false);

  // Follows the chosen line, also while a live run moves on.
  useEffect(() => {
    const box = list.current;
    if (chosenAt < 0 || !box || box.scrollHeight <= box.clientHeight) return;
    const top = chosenAt * ROW_HEIGHT;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + ROW_HEIGHT > box.scrollTop + box.clientHeight) {
      box.scrollTop = top + ROW_HEIGHT - box.clientHeight;
    }
  }, [chosenAt]);

  useEffect(() => {
    const row = focusWanted.current && chosenId ? document.getElementById(`line-${chosenId}`) : null;
    if (!row) return;
    focusWanted.current = false;
    row.focus({ preventScroll: true });
    // Where the page scrolls, not the list.
    row.scrollIntoView({ block: "nearest" });
  });

  function onKey(event: KeyboardEvent) {
    const at = chosenAt;
    const to =
      event.key === "ArrowDown" || event.key === "j"
        ? at + 1
        : event.key === "ArrowUp" || event.key === "k"
          ? at - 1
          : event.key === "Home"
            ? 0
            : event.key === "End"
              ? lines.length - 1
              : undefined;
    if (to === undefined || event.metaKey || event.ctrlKey || event.altKey) return;
    event.preventDefault();
    const line = lines[Math.min(lines.length - 1, Math.max(0, to))];
    if (!line) return;
    focusWanted.current = true;
    onChoose(line);
  }

  return (
    <div className="lg:sticky lg:top-0">
      <Axis span={span} />
      <div
        aria-label="Timeline"
        className="relative overflow-y-auto lg:max-h-[calc(100dvh-2rem)]"
        onKeyDown={onKey}
        ref={list}
        role="listbox"
      >
        <Gap rows={drawn.first} />
        {lines.slice(drawn.first, drawn.end).map((line, index) => (
          <TimelineRow
            chosen={lineId(line) === chosenId}
            count={lines.length}
            end={endOf(line, now)}
            key={lineId(line)}
            line={line}
            onChoose={onChoose}
            position={drawn.first + index + 1}
            span={span}
            start={start}
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

/** Stands for rows that are not drawn. A picture, for its height is an attribute: the server may write no styles. */
function Gap({ rows }: { rows: number }) {
  return rows > 0 ? (
    <svg aria-hidden="true" className="block" height={rows * ROW_HEIGHT} role="presentation" width="1" />
  ) : null;
}

function endOf(line: Line, now: number): number {
  const { startedAt, finishedAt } = lineFacts(line);
  return finishedAt ? new Date(finishedAt).getTime() : Math.max(now, new Date(startedAt).getTime());
}

const COLUMNS =
  "grid grid-cols-[minmax(0,9rem)_minmax(0,1fr)_5rem] items-center gap-2 px-4 sm:pl-6 sm:grid-cols-[minmax(0,11rem)_minmax(0,1fr)_5.5rem]";

function TimelineRow({
  line,
  position,
  count,
  chosen,
  tabbable,
  start,
  end,
  span,
  onChoose,
}: {
  line: Line;
  /** From 1, of `count`. */
  position: number;
  count: number;
  chosen: boolean;
  /** One row takes the focus from the keyboard: the chosen one, if it is in sight. */
  tabbable: boolean;
  start: number;
  end: number;
  span: number;
  onChoose: (line: Line) => void;
}) {
  const { status, startedAt, durationMs } = lineFacts(line);
  const from = Math.max(0, new Date(startedAt).getTime() - start);
  const length = durationMs ?? Math.max(0, end - new Date(startedAt).getTime());
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list around handles the keys.
    <div
      aria-posinset={position}
      aria-selected={chosen}
      aria-setsize={count}
      className={classNames(
        COLUMNS,
        "h-[36px] cursor-pointer -outline-offset-2",
        chosen ? "bg-selected" : "hover:bg-hover",
      )}
      id={`line-${lineId(line)}`}
      onClick={() => onChoose(line)}
      role="option"
      tabIndex={tabbable ? 0 : -1}
    >
      <span
        className={classNames(
          "flex min-w-0 items-center gap-2",
          line.depth === 1 && "pl-5",
          line.depth === 2 && "pl-10",
        )}
      >
        {line.kind === "call" && status === "Completed" ? (
          <SparkIcon className="shrink-0 text-bar-think" height="12" width="12" />
        ) : (
          <StatusShape status={status} />
        )}
        {line.kind === "step" ? (
          <span className="text-faint">
            <span className="sr-only">Step </span>
            {line.step.number}
          </span>
        ) : null}
        <span className={classNames("truncate", line.kind === "call" ? "text-muted" : "font-medium")}>
          {line.label}
          {line.kind === "call" && line.depth === 0 ? (
            <span className="text-faint"> {line.call.iteration}</span>
          ) : null}
          {line.kind === "step" && line.step.name !== line.label ? (
            <span className="font-normal text-muted"> {line.step.name}</span>
          ) : null}
          {line.kind === "step" && line.step.attempts > 1 ? (
            <span className="font-normal text-muted">
              <span aria-hidden="true"> ×{line.step.attempts}</span>
              <span className="sr-only">, {line.step.attempts} attempts</span>
            </span>
          ) : null}
        </span>
        <span className="sr-only">, {status}, </span>
      </span>
      <svg aria-hidden="true" className="overflow-visible" height="12" width="100%">
        <rect
          className={barClass(line)}
          height="10"
          rx="1.5"
          strokeWidth="1"
          width={`${((length / span) * 100).toFixed(3)}%`}
          x={`${((from / span) * 100).toFixed(3)}%`}
          y="1"
        />
      </svg>
      <span className="mono text-right text-muted text-xs">{formatDuration(length)}</span>
    </div>
  );
}

function barClass(line: Line): string {
  const { status } = lineFacts(line);
  if (status === "Failed") return "fill-failed stroke-failed";
  if (status === "Running") return "fill-running stroke-running";
  return line.kind === "call" ? "fill-bar-think stroke-bar-think" : "fill-bar-step stroke-bar-step";
}

/** The scale above the bars: a few round moments. */
function Axis({ span }: { span: number }) {
  const ticks = roundTicks(span);
  return (
    <div aria-hidden="true" className={`${COLUMNS} h-8 border-line border-b text-faint text-xs`}>
      <span>Timeline</span>
      <svg aria-hidden="true" className="overflow-visible" height="16" width="100%">
        {ticks.map((tick, index) => (
          <text
            className={classNames("mono fill-faint", index % 2 === 1 && ticks.length > 3 && "max-xl:hidden")}
            fontSize="11"
            key={tick}
            textAnchor={tick === 0 ? "start" : "middle"}
            x={`${(tick / span) * 100}%`}
            y="12"
          >
            {formatTick(tick)}
          </text>
        ))}
      </svg>
      <span />
    </div>
  );
}

/** At most five round moments from 0, in ms. */
export function roundTicks(span: number): number[] {
  const rough = span / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const scale =
    rough > 20_000
      ? ([30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000].find((each) => each >= rough) ??
        7_200_000)
      : ([1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough) ?? rough);
  const ticks: number[] = [];
  for (let tick = 0; tick <= span * 0.97; tick += Math.max(1, scale)) ticks.push(Math.round(tick));
  return ticks;
}

function formatTick(ms: number): string {
  if (ms === 0) return "0";
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 60_000) return `${Number((ms / 1_000).toFixed(1))} s`;
  return `${Number((ms / 60_000).toFixed(1))} min`;
}
