"use client";

import clsx from "clsx";
import type { ReactNode } from "react";
import { CopyButton } from "@/app/_ui/copy-button";
import { formatDuration } from "@/app/_ui/figures/format";
import { type RunStatusName, Status } from "@/app/_ui/figures/status";
import { Elapsed, useNow } from "@/app/_ui/figures/time";
import { JsonView } from "@/app/_ui/json/view";
import { SkeletonLine } from "@/app/_ui/page/page";
import type { CallDetail, StepDetail } from "@/server/runs/read/inspect/inspect-line";
import type { LineStatus } from "../lines";
import { type TimedAttempt, timedAttempts } from "../timeline/timed-attempts";

/** The head of a step or model call: title, status, and a link to it. */
export function Head({
  title,
  facts,
  status,
  waiting = false,
  link,
}: {
  title: ReactNode;
  facts: ReactNode;
  /** Null for a line without a status. */
  status: RunStatusName | null;
  waiting?: boolean;
  /** The path of the line's page. */
  link: string;
}) {
  return (
    <div className="flex min-h-12 flex-wrap items-center gap-x-3 px-4 py-2 sm:px-6">
      <h2 className="min-w-0 font-semibold text-base [overflow-wrap:anywhere]">{title}</h2>
      {status ? <Status status={status} waiting={waiting} /> : null}
      <span className="ml-auto flex items-center gap-1 text-muted">
        <span>{facts}</span>
        <CopyButton
          label="Copy a link to this line"
          look="link"
          text={async () => new URL(link, window.location.origin).href}
        />
      </span>
    </div>
  );
}

/** How long a line took, or has taken so far. As wide as most durations, so that what is beside it does not move. */
export function LineDuration({
  line,
}: {
  line: { startedAt: string; finishedAt: string | null; durationMs: number | null };
}) {
  return (
    <span className="inline-block min-w-[6.5ch] tabular-nums">
      {line.durationMs === null ? (
        <Elapsed from={line.startedAt} lively to={line.finishedAt} />
      ) : (
        formatDuration(line.durationMs)
      )}
    </span>
  );
}

/** Why a line failed, in the colour of its status. `runError`: the error at the top of the page; may be empty. */
export function ErrorText({
  text,
  status,
  runError,
}: {
  text: string;
  status: LineStatus;
  runError: string;
}) {
  if (runError.includes(text))
    return <p className="mb-3 text-muted">The error is at the top of this page.</p>;
  return (
    <p
      className={clsx(
        "mb-3 max-h-60 overflow-auto whitespace-pre-wrap rounded-md px-3 py-2 [overflow-wrap:anywhere]",
        status === "Tolerated"
          ? "bg-waiting-wash text-waiting"
          : status === "Cancelled"
            ? "bg-surface text-muted"
            : "bg-failed-wash text-failed",
      )}
    >
      {text}
    </p>
  );
}

/** The tab with the attempts of a step or model call; `marked` is the number of the selected one. */
export function attemptsTab(work: StepDetail | CallDetail, marked: number | null) {
  const attempts = timedAttempts(work);
  return {
    value: "attempts",
    label: attempts.length > 1 ? `Attempts (${attempts.length})` : "Attempts",
    content: <Attempts attempts={attempts} marked={marked} />,
  };
}

function Attempts({ attempts, marked }: { attempts: TimedAttempt[]; marked: number | null }) {
  if (attempts.length === 0) return <p className="text-faint">No attempt has ended yet.</p>;
  return (
    <ol className="flex flex-col">
      {attempts.map((attempt, index) => (
        <li
          aria-current={attempt.number === marked || undefined}
          className={clsx(
            "-mx-2 grid grid-cols-[1.5rem_5rem_1fr] gap-x-3 border-line border-b px-2 py-1.5 last:border-0",
            attempt.number === marked && "bg-selected",
          )}
          key={attempt.number}
        >
          <span className="text-faint">{attempt.number}</span>
          {attempt.finishedAt === null ? (
            <OpenAttempt attempt={attempt} />
          ) : (
            <EndedAttempt attempt={attempt} />
          )}
          <WaitBefore attempt={attempt} before={attempts[index - 1]} />
        </li>
      ))}
    </ol>
  );
}

function EndedAttempt({ attempt }: { attempt: TimedAttempt }) {
  return (
    <>
      <span className="mono">
        <LineDuration line={attempt} />
      </span>
      <span className={attempt.error ? "text-failed [overflow-wrap:anywhere]" : "text-muted"}>
        {attempt.error ?? "succeeded"}
      </span>
      {attempt.console.length > 0 && (
        <pre className="mono col-start-3 max-h-60 overflow-auto whitespace-pre-wrap text-muted text-xs [overflow-wrap:anywhere]">
          {attempt.console.join("\n")}
        </pre>
      )}
    </>
  );
}

function OpenAttempt({ attempt }: { attempt: TimedAttempt }) {
  const waitsMs = Date.parse(attempt.startedAt) - useNow(true);
  return (
    <>
      <span className="mono">
        {waitsMs > 0 ? (
          `in ${formatDuration(Math.ceil(waitsMs / 100) * 100)}`
        ) : (
          <LineDuration line={attempt} />
        )}
      </span>
      <span className="text-muted">{waitsMs > 0 ? "next attempt" : "in progress"}</span>
    </>
  );
}

/** The delay after the previous attempt. */
function WaitBefore({ attempt, before }: { attempt: TimedAttempt; before: TimedAttempt | undefined }) {
  const waitedMs = before?.finishedAt ? Date.parse(attempt.startedAt) - Date.parse(before.finishedAt) : 0;
  return waitedMs > 0 ? (
    <span className="col-start-3 text-muted text-xs">after a wait of {formatDuration(waitedMs)}</span>
  ) : null;
}

/** The tab with all other facts of a step or model call as JSON. */
export function recordTab(work: StepDetail | CallDetail) {
  const {
    input: _input,
    output: _output,
    content: _content,
    reasoning: _reasoning,
    ...record
  } = {
    ...{ input: null, output: null, content: null, reasoning: null },
    ...work,
  };
  return { value: "record", label: "Record", content: <Record text={JSON.stringify(record)} /> };
}

function Record({ text }: { text: string }) {
  return (
    <div className="flex gap-2">
      <div className="min-w-0 flex-1">
        <JsonView text={text} tools />
      </div>
      <CopyButton label="Copy the record as JSON" text={JSON.stringify(JSON.parse(text), null, 2)} />
    </div>
  );
}

/** Figures of a line, above its texts, which may grow. A figure that ticks is last. */
export function Figures({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    // In fixed columns, so that a value that grows moves nothing.
    <dl className="grid grid-cols-2 gap-x-5 gap-y-1 px-4 pb-2 sm:px-6 2xl:grid-cols-4">
      {facts.map(([name, value]) => (
        <div className="flex min-w-0 gap-1.5" key={name}>
          <dt className="whitespace-nowrap text-muted">{name}</dt>
          <dd className="min-w-0 truncate">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function InspectorSkeleton() {
  return (
    <div aria-busy="true" className="flex flex-col gap-4 px-4 py-4 sm:px-6">
      <SkeletonLine className="w-48" />
      <SkeletonLine className="w-full" />
      <SkeletonLine className="w-2/3" />
      <SkeletonLine className="w-3/4" />
    </div>
  );
}
