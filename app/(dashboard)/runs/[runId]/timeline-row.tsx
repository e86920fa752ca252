import { classNames } from "@/app/_ui/class-names";
import { ChevronRightIcon, SparkIcon } from "@/app/_ui/icons";
import { StatusShape } from "@/app/_ui/status";
import { type Line, lineFacts, lineId } from "./timeline-lines";
import { type Bar, COLUMNS } from "./timeline-scale";

/** One line: what it is, how it went, its bar and its amount. */
export function TimelineRow({
  line,
  position,
  count,
  chosen,
  tabbable,
  bar,
  unfolded,
  onUnfold,
  onPoint,
  onChoose,
}: {
  line: Line;
  /** From 1, of `count`. */
  position: number;
  count: number;
  chosen: boolean;
  /** One row takes the focus from the keyboard: the chosen one, if it is in sight. */
  tabbable: boolean;
  bar: Bar;
  /** Whether the lines of the run that the step started follow; null where it started none. */
  unfolded: boolean | null;
  onUnfold: () => void;
  /** The pointer has come to the row. */
  onPoint: () => void;
  onChoose: (line: Line) => void;
}) {
  const { status } = lineFacts(line);
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
      onPointerEnter={onPoint}
      role="option"
      tabIndex={tabbable ? 0 : -1}
    >
      <span
        className={classNames(
          "flex min-w-0 items-center gap-2",
          line.depth === 1 && "pl-3 @md/timeline:pl-5",
          line.depth === 2 && "pl-6 @md/timeline:pl-10",
          line.depth >= 3 && "pl-9 @md/timeline:pl-15",
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
            {line.slug}
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
        {unfolded === null ? null : (
          // Keyboards unfold by the arrows, and by the button beside the step's output.
          <span
            aria-hidden="true"
            className="-my-1 flex size-6 shrink-0 items-center justify-center rounded text-muted hover:bg-line hover:text-ink"
            onClick={onUnfold}
            title={unfolded ? "Fold its steps" : "Show the steps of the run it started"}
          >
            <ChevronRightIcon className={unfolded ? "rotate-90" : undefined} height="14" width="14" />
          </span>
        )}
      </span>
      <svg aria-hidden="true" className="overflow-visible" height="12" width="100%">
        <rect
          className={barClass(line)}
          height="10"
          rx="1.5"
          strokeWidth="1"
          width={`${(bar.length * 100).toFixed(3)}%`}
          x={`${(bar.from * 100).toFixed(3)}%`}
          y="1"
        />
      </svg>
      <span className="mono text-right text-muted text-xs">{bar.words}</span>
    </div>
  );
}

function barClass(line: Line): string {
  const { status } = lineFacts(line);
  if (status === "Failed") return "fill-failed stroke-failed";
  if (status === "Running") return "fill-running stroke-running";
  return line.kind === "call" ? "fill-bar-think stroke-bar-think" : "fill-bar-step stroke-bar-step";
}
