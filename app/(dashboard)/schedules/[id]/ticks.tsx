"use client";

import { useTRPC } from "@/app/_ui/data/providers";
import { PartHead } from "@/app/_ui/figures/facts";
import { formatAge, NONE, shortId } from "@/app/_ui/figures/format";
import { Moment } from "@/app/_ui/figures/time";
import { Link } from "@/app/_ui/link";
import { Empty } from "@/app/_ui/page/page";
import { PagedList, usePages } from "@/app/_ui/paged-list";
import { type LineColumn, LineList } from "@/app/_ui/table";
import type { TickLine } from "@/server/catalog/schedules/inspect-schedules";
import { TickMark } from "../outcome";
import { ticksQuery } from "./query";

/** Ticks have no events, so a visible page polls. */
export const REFRESH_MS = 5_000;
/** A start takes a moment. */
const ON_TIME_MS = 2_000;

const COLUMNS: LineColumn<TickLine>[] = [
  { head: "Due", width: "w-44", area: "start", look: "line", cell: ({ dueAt }) => <Moment at={dueAt} /> },
  { head: "Outcome", width: "w-32", area: "end", look: "line", cell: (tick) => <TickMark tick={tick} /> },
  {
    head: "Reason or run",
    area: "lastStart",
    look: "wrap",
    cell: ({ runId, runStatus, reason, code }) =>
      runId === null ? (
        <>
          {reason} <span className="mono text-muted max-md:hidden">{code}</span>
        </>
      ) : runStatus === null ? (
        <span className="text-muted">The run was deleted</span>
      ) : (
        <>
          <Link className="mono text-accent hover:underline" href={`/runs/${runId}`}>
            {shortId(runId)}
          </Link>{" "}
          <span className="text-muted">{runStatus}</span>
        </>
      ),
  },
  {
    head: "Late",
    width: "w-24",
    area: "last",
    look: "figure",
    cell: ({ outcome, dueAt, decidedAt }) => {
      const late = decidedAt === null ? 0 : new Date(decidedAt).getTime() - new Date(dueAt).getTime();
      return (
        <span className="text-muted">
          {outcome === "started" && late > ON_TIME_MS ? formatAge(late) : NONE}
        </span>
      );
    },
  },
];

const keyOf = ({ dueAt }: TickLine) => dueAt;

export function Ticks({ scheduleId }: { scheduleId: string }) {
  const trpc = useTRPC();
  const list = usePages(ticksQuery(trpc, scheduleId), REFRESH_MS);
  return (
    <section aria-label="Last times">
      <PartHead title="Last times" />
      <PagedList
        columns={COLUMNS}
        empty={
          <Empty title="Not due yet">
            <p>Each due time appears here: with its run, or why nothing was started.</p>
          </Empty>
        }
        keyOf={keyOf}
        label="Last times"
        list={list}
        what="due times"
      />
    </section>
  );
}

export const TicksSkeleton = () => (
  <LineList columns={COLUMNS} keyOf={keyOf} label="Last times" lines={null} />
);
