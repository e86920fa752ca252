import clsx from "clsx";
import { formatCount, formatPlural } from "@/app/_ui/figures/format";
import { StatusShape } from "@/app/_ui/figures/status";
import { ChevronRightIcon, SparkIcon } from "@/app/_ui/icons";
import { attemptsOf, isWork, type Line, lineFacts, lineId } from "../lines";
import { BarShape } from "./bar";
import { countIn, isStep } from "./line-folds";
import { type Bar, COLUMNS } from "./scale";

/** One line: name, status, bar and amount. */
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
  /** Counted from 1, of `count`. */
  position: number;
  count: number;
  chosen: boolean;
  /** Whether Tab stops here: the selected row, if it is visible. */
  tabbable: boolean;
  bar: Bar;
  /** Whether the child run or the attempts are expanded; null if there are none. */
  unfolded: boolean | null;
  onUnfold: () => void;
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
      className={clsx(
        COLUMNS,
        "group h-[36px] cursor-pointer -outline-offset-2",
        chosen ? "bg-selected" : "hover:bg-hover",
      )}
      id={`line-${lineId(line)}`}
      onClick={() => onChoose(line)}
      onPointerEnter={onPoint}
      role="option"
      tabIndex={tabbable ? 0 : -1}
    >
      <span
        className={clsx(
          "flex min-w-0 items-center gap-2",
          line.depth === 1 && "pl-3 @md/timeline:pl-5",
          line.depth === 2 && "pl-6 @md/timeline:pl-10",
          line.depth >= 3 && "pl-9 @md/timeline:pl-15",
        )}
      >
        <LineShape line={line} />
        {line.kind === "step" ? (
          <span className="text-faint">
            <span className="sr-only">Step </span>
            {line.slug}
          </span>
        ) : null}
        <LineName line={line} />
        <HeldCount line={line} />
        {isWork(line) ? <AttemptCount count={attemptsOf(line).length} /> : null}
        <span className="sr-only">
          , {status}, {bar.beyond ? `${bar.beyond} what is shown, ` : null}
        </span>
        {unfolded === null ? null : (
          // The keyboard uses the arrow keys, or the button beside the step's output.
          <span
            aria-hidden="true"
            className={clsx(
              "-mx-1 -my-1 flex size-6 shrink-0 items-center justify-center rounded text-muted hover:bg-line hover:text-ink",
              // Every model call could be collapsed, so the button appears on hover only.
              line.kind === "call" && unfolded && !chosen && "opacity-0 group-hover:opacity-100",
            )}
            onClick={onUnfold}
            title={unfolded ? "Fold" : unfoldTitle(line)}
          >
            <ChevronRightIcon className={unfolded ? "rotate-90" : undefined} size={14} />
          </span>
        )}
      </span>
      <BarShape bar={bar} line={line} />
      <span className="text-right text-muted text-xs tabular-nums">{bar.label}</span>
    </div>
  );
}

function LineShape({ line }: { line: Line }) {
  const { status } = lineFacts(line);
  if (line.kind === "call" && status === "Completed") {
    return <SparkIcon className="shrink-0 text-bar-model" size={12} />;
  }
  if (line.kind === "wait") return <StatusShape status={status === "Running" ? "Waiting" : "Pending"} />;
  return <StatusShape status={status} />;
}

function LineName({ line }: { line: Line }) {
  return (
    <span
      className={clsx(
        "truncate",
        line.kind === "step" || line.kind === "group" ? "font-medium" : "text-muted",
      )}
      title={
        line.kind === "step" && line.step.name !== line.label ? `${line.label} ${line.step.name}` : line.label
      }
    >
      {line.label}
      {line.kind === "step" && line.step.name !== line.label ? (
        <span className="font-normal text-muted"> {line.step.name}</span>
      ) : null}
      {line.kind === "attempt" && line.attempt.error ? (
        <span className="text-failed" title={line.attempt.error}>
          {" "}
          {line.attempt.error}
        </span>
      ) : null}
    </span>
  );
}

/** How many lines a group has, and how many failed. A narrow timeline shows the numbers only. */
function HeldCount({ line }: { line: Line }) {
  if (!line.folded && line.kind !== "group") return null;
  const steps = line.kind === "group" ? line.items.length : (line.holds ?? []).filter(isStep).length;
  return (
    <>
      {line.kind === "group" ? (
        <span className="-ml-1 shrink-0 text-muted">
          <span aria-hidden="true">×{formatCount(steps)}</span>
          <span className="sr-only">, {formatPlural(steps, "item")}</span>
        </span>
      ) : (
        <span className="-ml-1 shrink-0 text-faint">
          +{formatCount(steps)}
          <span className="@max-md/timeline:sr-only"> {steps === 1 ? "step" : "steps"}</span>
        </span>
      )}
      <FailureCount className="text-failed" count={countIn(line, "Failed")} word="failed" />
      <FailureCount className="text-waiting" count={countIn(line, "Tolerated")} word="tolerated" />
    </>
  );
}

function FailureCount({ count, word, className }: { count: number; word: string; className: string }) {
  if (count === 0) return null;
  return (
    <span className={clsx("-ml-0.5 shrink-0", className)} title={`${formatCount(count)} ${word}`}>
      <span className="sr-only">, </span>
      {formatCount(count)}
      <span className="@max-md/timeline:sr-only"> {word}</span>
    </span>
  );
}

function AttemptCount({ count }: { count: number }) {
  if (count < 2) return null;
  return (
    <span className="-ml-1 shrink-0 text-muted">
      <span aria-hidden="true">×{count}</span>
      <span className="sr-only">, {count} attempts</span>
    </span>
  );
}

function unfoldTitle(line: Line): string {
  if (line.holds) return "Show its lines";
  return line.kind === "step" && line.step.childRunId
    ? "Show the steps of the child run"
    : "Show its attempts";
}
