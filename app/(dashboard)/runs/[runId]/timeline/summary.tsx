import clsx from "clsx";
import { memo } from "react";
import { useNow } from "@/app/_ui/data/clock";
import { formatCount, formatCredits, formatDuration } from "@/app/_ui/figures/format";
import { isTerminal } from "@/server/contract/enums";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import { Liveness } from "../header/liveness";
import { type Line, MIN_SHOWN_WAIT_MS, type WorkLine, waitsOf } from "../lines";
import {
  creditShares,
  fromCreditUnits,
  largestLine,
  lengthOf,
  type Measure,
  sumCached,
  timeShares,
} from "../measures";

type SummaryProps = { run: RunDetail; lines: WorkLine[]; measure: Measure; onShow: (line: Line) => void };

/**
 * One line on where a run's time, credits or tokens went. For an open run, its current step and the worker's
 * liveness.
 */
export const TimelineSummary = memo(function TimelineSummary({
  reserve,
  ...props
}: SummaryProps & {
  reserve: boolean;
}) {
  return (
    <p
      className={clsx(
        "flex min-h-12 flex-wrap content-center items-center gap-x-3 px-4 text-muted text-xs sm:pl-6",
        reserve && "max-sm:min-h-16",
      )}
    >
      {isTerminal(props.run.status) ? <Totals {...props} /> : <Progress {...props} />}
    </p>
  );
});

function Totals({ run, lines, measure, onShow }: SummaryProps) {
  const parts = partsOf(run, lines, measure);
  const largest = largestLine(lines, measure, run.finishedAt ? Date.parse(run.finishedAt) : 0);
  return (
    <>
      {measure === "credits" && parts.length === 0 ? <span>No cost.</span> : null}
      {parts.map(({ name, value, share, meaning }) => (
        <span
          className={clsx(meaning && "cursor-help underline decoration-dotted underline-offset-2")}
          key={name}
          title={meaning}
        >
          {name} <span className="text-ink tabular-nums">{value}</span>
          {share === undefined ? null : ` (${Math.round(share * 100)}%)`}
        </span>
      ))}
      {largest ? (
        <button
          className="-my-1 ml-auto py-1 text-accent hover:underline"
          onClick={() => onShow(largest)}
          type="button"
        >
          {measure === "time" ? "slowest" : "most"}: {shortNameOf(largest)}
        </button>
      ) : null}
    </>
  );
}

type Part = { name: string; value: string; share?: number; meaning?: string | undefined };

const MEANINGS = new Map([
  [
    "idle",
    "Time without a step or a model call in progress: Stepwell evaluated expressions and stored results, or another process took over the run.",
  ],
]);

function partsOf(run: RunDetail, lines: WorkLine[], measure: Measure): Part[] {
  const cached = sumCached(lines.flatMap((line) => (line.kind === "call" ? line.call : [])));
  if (measure === "tokens")
    return [
      { name: "in", value: formatCount(run.inputTokens) },
      ...(cached > 0
        ? [{ name: "cached", value: formatCount(cached), share: cached / run.inputTokens }]
        : []),
      { name: "out", value: formatCount(run.outputTokens) },
    ];
  if (measure === "credits") {
    const { model, actions, started } = creditShares(lines);
    const format = (units: number) => formatCredits(fromCreditUnits(units));
    return sharesOf({ model, actions, "child runs": started }, model + actions + started, format);
  }
  if (!run.startedAt || !run.finishedAt) return [];
  const [start, end] = [Date.parse(run.startedAt), Date.parse(run.finishedAt)];
  const queued = start - Date.parse(run.createdAt);
  const waits = waitsOf(
    run,
    lines.flatMap((line) => (line.kind === "step" && line.runId === run.id ? line.step : [])),
  );
  const { model, steps, waited, idle } = timeShares(lines, waits, { start, end, now: end });
  const times = { model, steps, "waited for a slot": waited, idle };
  return [
    ...(queued >= MIN_SHOWN_WAIT_MS ? [{ name: "queued", value: formatDuration(queued) }] : []),
    ...sharesOf(times, end - start, formatDuration),
  ];
}

function sharesOf(
  amounts: Record<string, number>,
  total: number,
  format: (amount: number) => string,
): Part[] {
  return Object.entries(amounts)
    .filter(([, amount]) => amount > 0)
    .map(([name, amount]) => ({
      name,
      value: format(amount),
      share: amount / total,
      meaning: MEANINGS.get(name),
    }));
}

function Progress({ run, lines }: SummaryProps) {
  const now = useNow();
  const running = lines.filter(({ status }) => status === "Running" || status === "Waiting");
  const longest = running.reduce<WorkLine | null>(
    (most, line) => (most === null || lengthOf(line, now) > lengthOf(most, now) ? line : most),
    null,
  );
  return (
    <>
      <span className="min-w-0 truncate">
        {longest === null ? (
          "between two steps"
        ) : (
          <>
            at {nameOf(longest)} for{" "}
            <span className="text-ink tabular-nums">{inSeconds(lengthOf(longest, now))}</span>
            <Retrying line={longest} now={now} />
            {running.length > 1 ? `, and ${running.length - 1} more in parallel` : null}
          </>
        )}
      </span>
      <Liveness run={run} />
    </>
  );
}

function Retrying({ line, now }: { line: WorkLine; now: number }) {
  const attempt = line.attempts.at(-1);
  if (!attempt) return null;
  const waitsMs = Date.parse(attempt.startedAt) - now;
  if (waitsMs <= 0) return `, attempt ${attempt.number}`;
  return (
    <>
      , attempt {attempt.number} in <span className="text-ink tabular-nums">{inSeconds(waitsMs)}</span>
    </>
  );
}

function inSeconds(ms: number): string {
  return formatDuration(Math.round(ms / 1_000) * 1_000 || 1_000);
}

function shortNameOf(line: WorkLine): string {
  return line.kind === "step" ? `${line.step.number} ${line.label}` : nameOf(line);
}

function nameOf(line: WorkLine): string {
  if (line.kind === "step") return `step ${line.step.number}, ${line.label}`;
  return line.label.charAt(0).toLowerCase() + line.label.slice(1);
}
