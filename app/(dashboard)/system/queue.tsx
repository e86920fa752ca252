"use client";

import { useTimeZone } from "@/app/_ui/data/clock";
import { PartHead } from "@/app/_ui/figures/facts";
import {
  formatCount,
  formatDuration,
  formatPlural,
  formatTimeOfDay,
  NONE,
  percent,
} from "@/app/_ui/figures/format";
import { type LineColumn, LineList } from "@/app/_ui/table";
import type { SystemStatus } from "@/server/operate/system/status";
import { niceTop } from "../metrics/chart";
import { describeWaiting, minutesBefore } from "./describe";

type QueueClass = NonNullable<SystemStatus["queue"]>["classes"][number];
type Busy = SystemStatus["organizations"]["busiest"][number];

const CLASSES: Record<string, string> = {
  at_limit: "At the limit of their plan",
  below_limit: "Without a free slot",
};
const BACKLOGS: Record<string, string> = {
  run_index: "runs to index",
  traces: "traces to export",
  callbacks: "callbacks to send",
};

const CLASS_COLUMNS: LineColumn<QueueClass>[] = [
  { head: "Runs that wait", area: "line", cell: ({ name }) => CLASSES[name] ?? name },
  {
    head: "Organizations",
    width: "w-26",
    area: "line",
    look: "figure",
    cell: (line) => count(line.organizations),
  },
  { head: "Waiting", width: "w-20", area: "line", look: "figure", cell: ({ runs }) => count(runs) },
  {
    head: "Oldest",
    width: "w-24",
    area: "line",
    look: "figure",
    cell: ({ runs, oldestSeconds }) => (runs === 0 ? NONE : formatDuration(oldestSeconds * 1_000)),
  },
];

const BUSY_COLUMNS: LineColumn<Busy>[] = [
  {
    head: "Busiest organizations",
    area: "line",
    look: "cut",
    cell: ({ name, slug }) => <span title={slug}>{name}</span>,
  },
  { head: "Running", width: "w-20", area: "line", look: "figure", cell: ({ running }) => count(running) },
  { head: "At most", width: "w-24", area: "line", look: "figure", cell: ({ most }) => count(most) },
];

const count = (value: number) => (value === 0 ? NONE : formatCount(value));

export function Queue({ status: { at, queue, waitingByMinute, organizations } }: { status: SystemStatus }) {
  const { running, organizations: all, suspended, busiest } = organizations;
  return (
    <section aria-label="Queue">
      <PartHead title="Runs that wait for a slot">
        <p className="text-muted text-xs">Last hour, a sample each minute</p>
      </PartHead>
      <WaitingChart minutes={minutesBefore(at, waitingByMinute)} />
      <LineList
        columns={CLASS_COLUMNS}
        form="table"
        keyOf={({ name }) => name}
        label="Queue by reason"
        lines={queue?.classes ?? []}
      />
      {busiest.length === 0 ? null : (
        <LineList
          columns={BUSY_COLUMNS}
          form="table"
          keyOf={({ slug }) => slug}
          label="Organizations by runs"
          lines={busiest}
        />
      )}
      <p className="px-4 py-3 text-muted text-xs sm:px-6">
        {formatPlural(all, "organization")}
        {suspended > 0 ? `, ${formatCount(suspended)} suspended` : null}; {formatPlural(running, "run")} in
        progress.{" "}
        {queue === null
          ? "The database does not answer in time for the queue."
          : `Waiting for jobs: ${queue.backlogs.map(({ name, rows }) => `${formatCount(rows)} ${BACKLOGS[name] ?? name}`).join(", ")}.`}
      </p>
    </section>
  );
}

function WaitingChart({ minutes }: { minutes: ReturnType<typeof minutesBefore> }) {
  const timeZone = useTimeZone();
  const most = Math.max(0, ...minutes.map(({ waiting }) => waiting ?? 0));
  const top = niceTop(most);
  const summary = describeWaiting(minutes);
  return (
    <figure className="px-4 pt-1 pb-4 sm:px-6">
      <div className="grid grid-cols-[2.5rem_minmax(0,1fr)]">
        <svg aria-hidden="true" className="overflow-visible" height="112" width="100%">
          {[0, 0.5, 1].map((part) => (
            <text
              className="fill-muted"
              dominantBaseline="middle"
              fontSize="11"
              key={part}
              y={percent(1 - part)}
            >
              {formatCount(top * part)}
            </text>
          ))}
        </svg>
        <svg
          aria-label={`Waiting runs of the last hour. ${summary}`}
          className="overflow-visible"
          height="112"
          role="img"
          width="100%"
        >
          {[0, 0.5, 1].map((part) => (
            <line
              className={part === 0 ? "stroke-line-strong" : "stroke-line"}
              key={part}
              x1="0"
              x2="100%"
              y1={percent(1 - part)}
              y2={percent(1 - part)}
            />
          ))}
          {minutes.map(({ at, waiting }, index) => (
            <rect
              className="fill-data-2"
              height={percent((waiting ?? 0) / top)}
              key={at}
              width={percent(0.86 / minutes.length)}
              x={percent(index / minutes.length)}
              y={percent(1 - (waiting ?? 0) / top)}
            >
              <title>{`${formatTimeOfDay(new Date(at), timeZone).slice(0, 5)}: ${waiting === null ? "no sample" : formatPlural(waiting, "run")}`}</title>
            </rect>
          ))}
        </svg>
        <span />
        <svg aria-hidden="true" className="mt-1 overflow-visible" height="16" width="100%">
          {minutes.map(({ at }, index) =>
            index % 15 === 0 ? (
              <text className="fill-muted" fontSize="11" key={at} x={percent(index / minutes.length)} y="11">
                {formatTimeOfDay(new Date(at), timeZone).slice(0, 5)}
              </text>
            ) : null,
          )}
        </svg>
      </div>
      <figcaption className="pt-1 text-muted text-xs">{summary}</figcaption>
    </figure>
  );
}
