"use client";

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { Figure, Figures } from "@/app/_ui/figures/figures";
import { formatBytes, formatCount, formatPlural, NONE } from "@/app/_ui/figures/format";
import type { SystemProcess, SystemStatus } from "@/server/operate/system/status";
import { describeGrowth, describeRoles, describeWait } from "./describe";

/** The size of the database is read again by the table below. */
export function KeyFigures({ status }: { status: SystemStatus }) {
  const { versions, processes, slots, queue } = status;
  const { data: database } = useQuery(useTRPC().system.database.queryOptions());
  const waiting = queue?.classes.reduce((sum, { runs }) => sum + runs, 0) ?? null;
  const oldest = Math.max(0, ...(queue?.classes.map(({ oldestSeconds }) => oldestSeconds) ?? []));
  return (
    <Figures label="At a glance">
      <Figure name="Version" note={otherVersions(versions.stepwell, processes)} value={versions.stepwell} />
      <Figure name="Processes" note={describeRoles(processes)} value={formatCount(processes.length)} />
      <Figure
        name="Slots"
        note={`Most in 24 h: ${slots.mostInDay === null ? NONE : formatCount(slots.mostInDay)}`}
        value={
          <>
            {formatCount(slots.used)} <Unit>of {formatCount(slots.total)}</Unit>
          </>
        }
      />
      <Figure
        name="Queue"
        note={waiting === null ? "The database does not answer in time" : describeWait(waiting, oldest)}
        value={
          waiting === null ? (
            NONE
          ) : (
            <>
              {formatCount(waiting)} <Unit>{waiting === 1 ? "run" : "runs"}</Unit>
            </>
          )
        }
      />
      <Figure
        name="Database"
        note={database ? describeGrowth(database.bytesPerDay) : undefined}
        value={database ? formatBytes(database.bytes) : NONE}
      />
    </Figures>
  );
}

function Unit({ children }: { children: ReactNode }) {
  return <small className="font-normal text-base text-muted">{children}</small>;
}

function otherVersions(own: string, processes: readonly SystemProcess[]): string {
  const versions = new Set(processes.flatMap(({ figures }) => figures?.version ?? []));
  const others = processes.filter(({ figures }) => figures !== null && figures.version !== own);
  if (others.length === 0) return "In every process";
  return `${formatPlural(others.length, "process has", "processes have")} ${[...versions].filter((each) => each !== own).join(", ")}`;
}
