import clsx from "clsx";
import type { ComponentProps, ReactNode } from "react";
import { CopyButton } from "@/app/_ui/copy-button";
import { useNow } from "@/app/_ui/data/clock";
import { formatDuration } from "@/app/_ui/figures/format";
import { type RunStatusName, Status } from "@/app/_ui/figures/status";
import { Elapsed } from "@/app/_ui/figures/time";
import { JsonView } from "@/app/_ui/json/view";
import { Tabs } from "@/app/_ui/tabs";
import type { CallDetail, StepDetail } from "@/server/runs/read/inspect/inspect-line";
import type { Line, WorkLine } from "../lines";
import { TextSkeleton } from "../skeleton";
import { type TimedAttempt, timedAttempts } from "../timed-attempts";
import type { Workbench } from "../use-workbench";
import { statusOf } from "./detail-status";

/** The head and the figures of a line, above its texts, which may grow. */
export function InspectorFrame({
  label,
  title,
  facts,
  status,
  line,
  intro,
  figures,
  act,
  children,
}: {
  label: string;
  title: ReactNode;
  facts: ReactNode;
  status: RunStatusName | null;
  line: Line;
  intro?: ReactNode;
  figures: readonly (readonly [string, ReactNode])[];
  act?: ReactNode;
  children?: ReactNode;
}) {
  // The page of a child run does not have the numbers of the steps that lead to it.
  const slug = line.slug.replace(/^(\d+\.)+/, "");
  const link = `/runs/${line.runId}?${new URLSearchParams({ [line.kind]: slug })}`;
  return (
    <section aria-label={label}>
      <div className="flex min-h-12 flex-wrap items-center gap-x-3 px-4 py-2 sm:px-6">
        <h2 className="min-w-0 font-semibold text-base [overflow-wrap:anywhere]">{title}</h2>
        {status ? <Status status={status} waiting={line.kind === "wait"} /> : null}
        <span className="ml-auto flex items-center gap-1 text-muted">
          <span>{facts}</span>
          {act}
          <CopyButton
            label="Copy a link to this line"
            look="link"
            text={async () => new URL(link, window.location.origin).href}
          />
        </span>
      </div>
      {intro}
      {/* In fixed columns, so that a value that grows moves nothing. */}
      <dl className="grid grid-cols-2 gap-x-5 gap-y-1 px-4 pb-2 sm:px-6 2xl:grid-cols-4">
        {figures.map(([name, value]) => (
          <div className="flex min-w-0 gap-1.5" key={name}>
            <dt className="whitespace-nowrap text-muted">{name}</dt>
            <dd className="min-w-0 truncate">{value}</dd>
          </div>
        ))}
      </dl>
      {children}
    </section>
  );
}

export type WorkProps<Kind extends WorkLine["kind"]> = {
  line: WorkLine & { kind: Kind };
  attempt: number | null;
  tab: string;
  onTab: (tab: string) => void;
  bench: Workbench | undefined;
};

/** The duration of a line so far. As wide as most durations, so that its neighbors do not move. */
export function LineDuration({ line }: { line: Pick<Line, "startedAt" | "finishedAt" | "durationMs"> }) {
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

/** The error of a step or call, in the color of its status; not again if the error is at the top of the page. */
export function ErrorText({
  line,
  work,
  bench,
}: Pick<WorkProps<WorkLine["kind"]>, "line" | "bench"> & { work: StepDetail | CallDetail }) {
  const text = work.errorMessage;
  if (!text) return null;
  const run = bench?.run;
  if (run?.status === "Failed" && run.id === line.runId && run.errorMessage?.includes(text))
    return <p className="mb-3 text-muted">The error is at the top of this page.</p>;
  const status = statusOf(line, work);
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

/** The tabs of a step or call: its own, its attempts, and all its other facts as JSON. */
export function WorkTabs({
  work,
  attempt,
  tabs,
  tab,
  onTab,
}: Omit<WorkProps<WorkLine["kind"]>, "line" | "bench"> & {
  work: StepDetail | CallDetail;
  tabs: ComponentProps<typeof Tabs>["tabs"];
}) {
  const attempts = timedAttempts(work);
  return (
    <Tabs
      onChange={onTab}
      tabs={[
        ...tabs,
        {
          value: "attempts",
          label: attempts.length > 1 ? `Attempts (${attempts.length})` : "Attempts",
          content: <Attempts attempts={attempts} marked={attempt} />,
        },
        { value: "record", label: "Record", content: <Record work={work} /> },
      ]}
      value={tab}
    />
  );
}

const WAITED = "no attempt: waited because of the provider's rate limit";

function Attempts({ attempts, marked }: { attempts: TimedAttempt[]; marked: number | null }) {
  const now = useNow(attempts.at(-1)?.finishedAt === null);
  if (attempts.length === 0) return <p className="text-faint">No attempt has ended yet.</p>;
  return (
    <ol className="flex flex-col">
      {attempts.map((attempt, index) => {
        const { number, status, error, startedAt, finishedAt, console, changes, called, usage } = attempt;
        const isOpen = finishedAt === null;
        const startsInMs = isOpen ? Date.parse(startedAt) - now : 0;
        const before = attempts[index - 1]?.finishedAt;
        const waitedMs = before ? Date.parse(startedAt) - Date.parse(before) : 0;
        return (
          <li
            aria-current={number === marked || undefined}
            className={clsx(
              "-mx-2 grid grid-cols-[1.5rem_5rem_1fr] gap-x-3 border-line border-b px-2 py-1.5 last:border-0",
              number === marked && "bg-selected",
            )}
            key={number}
          >
            <span className="text-faint">{number}</span>
            <span className="mono">
              {startsInMs > 0 ? (
                `in ${formatDuration(Math.ceil(startsInMs / 100) * 100)}`
              ) : (
                <LineDuration line={attempt} />
              )}
            </span>
            <span className={error ? "text-failed [overflow-wrap:anywhere]" : "text-muted"}>
              {error ??
                (status === "Waiting"
                  ? WAITED
                  : startsInMs > 0
                    ? "next attempt"
                    : isOpen
                      ? "in progress"
                      : "succeeded")}
            </span>
            {called ? <span className="col-start-3 text-muted text-xs">{called}</span> : null}
            {changes.length > 0 ? (
              <span className="col-start-3 text-muted text-xs [overflow-wrap:anywhere]">
                {changes.join("; ")}
              </span>
            ) : null}
            {console.length > 0 ? (
              <pre className="mono col-start-3 max-h-60 overflow-auto whitespace-pre-wrap text-muted text-xs [overflow-wrap:anywhere]">
                {console.join("\n")}
              </pre>
            ) : null}
            {usage === null ? null : (
              <details className="col-start-3 min-w-0 text-muted text-xs">
                <summary className="cursor-pointer hover:text-ink">Usage as the provider reported it</summary>
                <div className="mt-1 max-h-60 overflow-auto">
                  <JsonView text={usage} />
                </div>
              </details>
            )}
            {waitedMs > 0 ? (
              <span className="col-start-3 text-muted text-xs">
                after a wait of {formatDuration(waitedMs)}
              </span>
            ) : null}
          </li>
        );
      })}
    </ol>
  );
}

const SHOWN_ELSEWHERE = ["input", "output", "content", "reasoning"];

function Record({ work }: { work: StepDetail | CallDetail }) {
  const record = Object.fromEntries(Object.entries(work).filter(([name]) => !SHOWN_ELSEWHERE.includes(name)));
  return (
    <div className="flex gap-2">
      <div className="min-w-0 flex-1">
        <JsonView text={JSON.stringify(record)} tools />
      </div>
      <CopyButton label="Copy the record as JSON" text={JSON.stringify(record, null, 2)} />
    </div>
  );
}

export function InspectorSkeleton() {
  return <TextSkeleton className="px-4 py-4 sm:px-6" widths={["w-48", "w-full", "w-2/3", "w-3/4"]} />;
}
