"use client";

import type { ReactNode } from "react";
import { CopyButton } from "@/app/_ui/copy-button";
import { formatDuration } from "@/app/_ui/format";
import { PlainText } from "@/app/_ui/json-view";
import { Bone } from "@/app/_ui/page";
import { Status } from "@/app/_ui/status";
import { Elapsed } from "@/app/_ui/time";
import type { Attempt, CallDetail, StepDetail } from "@/server/runs/inspect";

/** What stands above a step or a model call: what it is, how it went, and a link to it for others. */
export function Head({
  title,
  facts,
  status,
  link,
}: {
  title: ReactNode;
  facts: ReactNode;
  status: StepDetail["status"];
  /** The address of the line's page, below the origin. */
  link: string;
}) {
  return (
    <div className="flex min-h-12 flex-wrap items-center gap-x-3 px-4 py-2 sm:px-6">
      <h2 className="min-w-0 font-semibold text-base [overflow-wrap:anywhere]">{title}</h2>
      <Status status={status} />
      <span className="ml-auto flex items-center gap-1 text-muted">
        <span>{facts}</span>
        <CopyButton
          label="Copy a link to this"
          look="link"
          text={async () => new URL(link, window.location.origin).href}
        />
      </span>
    </div>
  );
}

/** How long a line took, or has taken so far. */
export function Took({
  line,
}: {
  line: { startedAt: string; finishedAt: string | null; durationMs: number | null };
}) {
  return (
    <span className="mono">
      {line.durationMs === null ? (
        <Elapsed from={line.startedAt} lively to={line.finishedAt} />
      ) : (
        formatDuration(line.durationMs)
      )}
    </span>
  );
}

export function ErrorText({ text }: { text: string }) {
  return (
    <p className="mx-4 mb-3 max-h-60 overflow-auto whitespace-pre-wrap rounded-md bg-failed-wash px-3 py-2 text-failed [overflow-wrap:anywhere] sm:mx-6">
      {text}
    </p>
  );
}

/** The tab with the tries of a step or a model call. */
export function attemptsTab(tries: Attempt[]) {
  return {
    value: "attempts",
    label: tries.length > 1 ? `Attempts (${tries.length})` : "Attempts",
    content: <Attempts tries={tries} />,
  };
}

function Attempts({ tries }: { tries: Attempt[] }) {
  if (tries.length === 0) return <p className="text-faint">none recorded</p>;
  return (
    <ol className="flex flex-col">
      {tries.map((attempt, index) => (
        <li
          className="grid grid-cols-[1.5rem_auto_1fr] gap-x-3 border-line border-b py-1.5 last:border-0"
          key={attempt.startedAt}
        >
          <span className="text-faint">{index + 1}</span>
          <span className="mono">{formatDuration(attempt.durationMs)}</span>
          <span className={attempt.error ? "text-failed [overflow-wrap:anywhere]" : "text-muted"}>
            {attempt.error ?? "succeeded"}
          </span>
        </li>
      ))}
    </ol>
  );
}

/** The tab with everything that is known of a step or a model call, as JSON. */
export function rawTab(value: StepDetail | CallDetail) {
  return { value: "raw", label: "Raw", content: <PlainText text={JSON.stringify(value, null, 2)} /> };
}

export function Figures({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="flex flex-wrap gap-x-5 gap-y-1 border-line border-t px-4 py-2.5 sm:px-6">
      {facts.map(([name, value]) => (
        <div className="flex gap-1.5" key={name}>
          <dt className="text-muted">{name}</dt>
          <dd className="mono pt-px">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function InspectorBones() {
  return (
    <div aria-busy="true" className="flex flex-col gap-4 px-4 py-4 sm:px-6">
      <Bone className="w-48" />
      <Bone className="w-full" />
      <Bone className="w-2/3" />
      <Bone className="w-3/4" />
    </div>
  );
}
