"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { lazy } from "@/app/_ui/lazy";
import { Empty, PageHead } from "@/app/_ui/page/page";
import { PageButton } from "@/app/_ui/page/page-actions";
import { Badge, RowName } from "@/app/_ui/row-name";
import { type LineColumn, LineList } from "@/app/_ui/table";
import { useDialog } from "@/app/_ui/use-dialog";
import type { ScheduleLine } from "@/server/catalog/schedules/inspect-schedules";
import { NextTime } from "../next-time";
import { LastTicks } from "../outcome";

const ScheduleForm = lazy(() => import("../_form/schedule-form"), "ScheduleForm");

/** Ticks have no events, so a visible page polls. */
const REFRESH_MS = 10_000;

const OVERLAPS = { skip: "Skip", queue: "Queue one", allow: "Allow" };

const COLUMNS: LineColumn<ScheduleLine>[] = [
  {
    head: "Schedule",
    area: "line",
    cell: ({ id, name, slug, pausedAt }) => (
      <RowName href={`/schedules/${id}`} name={name} slug={slug}>
        {pausedAt === null ? null : <Badge>paused</Badge>}
      </RowName>
    ),
  },
  {
    head: "Times",
    width: "w-54",
    area: "lineOrWide",
    look: "cut",
    cell: ({ cron, timeZone }) => (
      <>
        <span className="mono">{cron}</span> {timeZone}
      </>
    ),
  },
  {
    head: "Starts",
    width: "w-[16%]",
    area: "wide",
    cell: ({ target: { kind, name, gone } }) => (
      <span className="block truncate">
        <span className="text-muted capitalize">{kind}</span> {name}
        {gone ? <span className="text-failed"> (deleted: nothing starts)</span> : null}
      </span>
    ),
  },
  {
    head: "Last ten, newest right",
    width: "w-48",
    area: "share",
    look: "line",
    cell: ({ lastTicks }) => <LastTicks ticks={lastTicks} />,
  },
  {
    head: "Overlap",
    width: "w-28",
    area: "widest",
    look: "muted",
    cell: ({ overlap }) => OVERLAPS[overlap],
  },
  {
    head: "Next",
    width: "w-50",
    area: "last",
    look: "line",
    cell: ({ nextAt }) =>
      nextAt === null ? <span className="text-faint">None</span> : <NextTime at={nextAt} />,
  },
];

export function SchedulesView() {
  const trpc = useTRPC();
  const options = trpc.schedules.list.queryOptions();
  const { data } = useSuspenseQuery({ ...options, refetchInterval: REFRESH_MS });
  const { dialog, open } = useDialog();
  const newSchedule = { label: "New schedule", needs: "member", to: () => open(<ScheduleForm />) } as const;
  return (
    <>
      <PageHead title="Schedules">
        <PageButton {...newSchedule} otherwise="Members and above create schedules." />
      </PageHead>
      {data.length === 0 ? (
        <Empty title="No schedules yet">
          <p>A schedule starts runs of one agent or tool at the times of a cron expression.</p>
          <PageButton {...newSchedule} />
        </Empty>
      ) : (
        <LineList columns={COLUMNS} keyOf={({ id }) => id} label="Schedules" lines={data} />
      )}
      {dialog}
    </>
  );
}

export const SchedulesSkeleton = () => (
  <LineList columns={COLUMNS} keyOf={({ id }) => id} label="Schedules" lines={null} />
);
