import type { Line, Row } from "../lines";
import { type Bar, type FailedStatus, hasFailed, type Span } from "./scale";

/**
 * A line's bar. With several attempts, one bar each, on a line through the delays. Outside the visible range, an arrow.
 * A group is a fainter bar with its failures marked.
 */
export function BarShape({ line, bar }: { line: Row; bar: Bar }) {
  return (
    <svg aria-hidden="true" className="overflow-visible" height="12" width="100%">
      {bar.held ? <GroupShape held={bar.held} /> : null}
      {line.kind === "group" && bar.held ? null : bar.beyond ? (
        <Arrow to={bar.beyond} />
      ) : bar.attempts === null ? (
        <Rect className={barClass(line)} span={bar} />
      ) : (
        <>
          <line
            className="stroke-line-strong"
            strokeWidth="2"
            x1={percent(bar.from)}
            x2={percent(bar.from + bar.length)}
            y1="6"
            y2="6"
          />
          {bar.attempts.map((attempt, index) => (
            <Rect
              className={attempt.failed ? FILLS[hasFailed(line) ? line.status : "Failed"] : barClass(line)}
              // biome-ignore lint/suspicious/noArrayIndexKey: the first, the second, … try.
              key={index}
              span={attempt}
            />
          ))}
        </>
      )}
    </svg>
  );
}

function GroupShape({ held }: { held: NonNullable<Bar["held"]> }) {
  return (
    <>
      <Rect className="fill-bar-step/35 stroke-none" span={held} />
      {held.failed.map((span, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the first, the second, … failure.
        <Rect className={FILLS[span.status]} key={index} span={span} />
      ))}
    </>
  );
}

function Arrow({ to }: { to: "before" | "after" }) {
  return (
    <svg aria-hidden="true" className="overflow-visible fill-faint" x={to === "before" ? "0" : "100%"}>
      <path d={to === "before" ? "M5 2.5v7L0 6z" : "M-5 2.5v7L0 6z"} />
    </svg>
  );
}

/** The minimum width, so that a line that took no time is visible. */
const THINNEST = 0.006;

function Rect({ span, className }: { span: Span; className: string }) {
  const length = Math.max(THINNEST, span.length);
  return (
    <rect
      className={className}
      height="10"
      rx="1.5"
      strokeWidth="1"
      width={percent(length)}
      x={percent(Math.min(span.from, 1 - length))}
      y="1"
    />
  );
}

function percent(part: number): string {
  return `${(part * 100).toFixed(3)}%`;
}

function barClass(line: Line): string {
  if (line.kind === "wait") return "fill-none stroke-muted [stroke-dasharray:3_2]";
  if (hasFailed(line)) return FILLS[line.status];
  if (line.status === "Running") return "fill-running stroke-running";
  const { kind } = line.kind === "attempt" ? line.of : line;
  return kind === "call" ? "fill-bar-model stroke-bar-model" : "fill-bar-step stroke-bar-step";
}

/** The bars of what did not succeed. */
const FILLS: Record<FailedStatus, string> = {
  Failed: "fill-failed stroke-failed",
  Tolerated: "fill-waiting-fill stroke-waiting-fill",
  Cancelled: "fill-cancelled-fill stroke-cancelled-fill",
};
