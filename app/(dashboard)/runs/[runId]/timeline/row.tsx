import clsx from "clsx";
import type { ComponentProps } from "react";
import { formatCount, formatPlural, formatWholeShare } from "@/app/_ui/figures/format";
import { StatusShape } from "@/app/_ui/figures/status";
import { ChevronRightIcon, SparkIcon } from "@/app/_ui/icons";
import type { CallLine } from "@/server/runs/read/inspect/lines";
import type { SkipNote } from "@/server/work/workflow/skip-note";
import { describeSkip } from "../describe-skip";
import { isStep, isWork, type Row } from "../lines";
import { BarShape } from "./bar";
import { type Bar, COLUMNS } from "./scale";

export function TimelineRow({
  line,
  bar,
  unfolded,
  onUnfold,
  tabIndex,
  ...props
}: ComponentProps<"div"> & {
  line: Row;
  bar: Bar;
  /** Null if it cannot unfold. */
  unfolded: boolean | null;
  onUnfold: () => void;
}) {
  const chosen = props["aria-selected"];
  return (
    <div
      {...props}
      className={clsx(
        COLUMNS,
        "group h-[36px] cursor-pointer -outline-offset-2",
        chosen ? "bg-selected" : "hover:bg-hover",
      )}
      id={`line-${line.id}`}
      role="option"
      tabIndex={tabIndex}
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
        {line.kind === "call" ? <FallbackModel call={line.call} /> : null}
        {line.kind === "call" ? <CachedShare call={line.call} /> : null}
        {isWork(line) && line.attempts.length > 1 ? (
          <TimesCount count={line.attempts.length} word="attempt" />
        ) : null}
        <span className="sr-only">
          , {line.status}, {bar.beyond ? `${bar.beyond} the shown period, ` : null}
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
      {isStep(line) && line.step.skipped ? (
        <SkippedText note={line.step.skipped} />
      ) : (
        <>
          <BarShape bar={bar} />
          <span className="text-right text-muted text-xs tabular-nums">{bar.label}</span>
        </>
      )}
    </div>
  );
}

function LineShape({ line: { kind, status } }: { line: Row }) {
  if (kind === "call" && status === "Completed") {
    return <SparkIcon className="shrink-0 text-bar-model" size={12} />;
  }
  if (kind === "wait") return <StatusShape status={status === "Running" ? "Waiting" : "Pending"} />;
  return <StatusShape status={status} />;
}

function SkippedText({ note }: { note: SkipNote }) {
  const text = describeSkip(note);
  return (
    <span className="col-span-2 truncate text-muted text-xs" title={text}>
      {text}
    </span>
  );
}

function LineName({ line }: { line: Row }) {
  const { kind, label } = line;
  const called = line.kind === "step" && line.step.name !== label ? ` ${line.step.name}` : "";
  const error = line.kind === "attempt" ? line.attempt.error : null;
  return (
    <span
      className={clsx(
        "truncate",
        (kind === "step" || kind === "group") && line.status !== "Skipped" ? "font-medium" : "text-muted",
      )}
      title={label + called}
    >
      {label}
      {called ? <span className="font-normal text-muted">{called}</span> : null}
      {error ? (
        <span className="text-failed" title={error}>
          {" "}
          {error}
        </span>
      ) : null}
    </span>
  );
}

function HeldCount({ line }: { line: Row }) {
  if (!line.folded && line.kind !== "group") return null;
  const holds = line.holds ?? [];
  const steps = holds.filter(isStep).length;
  return (
    <>
      {line.kind === "group" ? (
        <TimesCount count={line.items.length} word="item" />
      ) : (
        <span className="-ml-1 shrink-0 text-faint">
          +{formatCount(steps)}
          <span className="@max-md/timeline:sr-only"> {steps === 1 ? "step" : "steps"}</span>
        </span>
      )}
      {FAILURES.map(({ status, word, className }) => {
        const count = holds.filter((each) => each.status === status).length;
        return count === 0 ? null : (
          <span className={className} key={word} title={`${formatCount(count)} ${word}`}>
            <span className="sr-only">, </span>
            {formatCount(count)}
            <span className="@max-md/timeline:sr-only"> {word}</span>
          </span>
        );
      })}
    </>
  );
}

const MARK = "shrink-0 rounded border border-line bg-surface px-1 text-muted text-xs @max-md/timeline:hidden";

function FallbackModel({ call: { fellBack, model } }: { call: CallLine }) {
  if (!fellBack) return null;
  return (
    <span className={clsx(MARK, "max-w-32 truncate")} title={`The fallback model ${model} was called`}>
      <span aria-hidden="true">↳</span>
      <span className="sr-only">, fallback model</span>
      <span className="@max-2xl/timeline:sr-only"> {model}</span>
    </span>
  );
}

function CachedShare({ call: { inputTokens, cachedInputTokens, fellBack } }: { call: CallLine }) {
  if (cachedInputTokens === 0) return null;
  return (
    <span
      className={clsx(MARK, fellBack && "@max-2xl/timeline:hidden")}
      title={`${formatCount(cachedInputTokens)} of ${formatCount(inputTokens)} input tokens came from the provider's cache`}
    >
      {formatWholeShare(cachedInputTokens, inputTokens)}
      <span className={fellBack ? "sr-only" : "@max-lg/timeline:sr-only"}> cached</span>
    </span>
  );
}

const FAILURES = [
  { status: "Failed", word: "failed", className: "-ml-0.5 shrink-0 text-failed" },
  { status: "Tolerated", word: "tolerated", className: "-ml-0.5 shrink-0 text-waiting" },
];

function TimesCount({ count, word }: { count: number; word: string }) {
  return (
    <span className="-ml-1 shrink-0 text-muted">
      <span aria-hidden="true">×{formatCount(count)}</span>
      <span className="sr-only">, {formatPlural(count, word)}</span>
    </span>
  );
}

function unfoldTitle(line: Row): string {
  if (line.holds) return "Show its lines";
  return line.kind === "step" && line.step.childRunId
    ? "Show the steps of the child run"
    : "Show its attempts";
}
