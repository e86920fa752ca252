"use client";

import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { PartHead } from "@/app/_ui/figures/facts";
import { formatBytes, NONE } from "@/app/_ui/figures/format";
import { type LineColumn, LineList } from "@/app/_ui/table";
import { Unreadable } from "@/app/_ui/text/unreadable";
import type { TableSize } from "@/server/operate/system/database-size";
import type { SystemStatus } from "@/server/operate/system/status";
import { describeFull, describeRetention, formatGrowth } from "./describe";

const REFRESH_MS = 60_000;
const SHOWN = 5;

/** Without a name: all tables that are not shown. */
type Row = Omit<TableSize, "name"> & { name: string | null; others: number };

/** The largest tables, and the sum of the others. */
export function DatabaseSize({ disk }: { disk: SystemStatus["disk"] }) {
  const options = useTRPC().system.database.queryOptions();
  const size = useQuery({ ...options, refetchInterval: REFRESH_MS });
  if (size.isError && !size.data)
    return <Unreadable query={size} what="Could not read the database's size" />;
  const { tables = [], retentionDays = null, bytesPerDay = null } = size.data ?? {};
  const full = disk.databaseHere ? describeFull(disk.free, bytesPerDay) : null;
  const columns: LineColumn<Row>[] = [
    {
      head: "Table",
      area: "line",
      look: "wrap",
      cell: ({ name, others }) =>
        name === null ? (
          <span className="text-muted">{`${others} others`}</span>
        ) : (
          <span className="mono">{breakable(name)}</span>
        ),
    },
    {
      head: "Size",
      width: "w-21 sm:w-23",
      area: "line",
      look: "figure",
      cell: ({ bytes }) => formatBytes(bytes),
    },
    {
      head: "Per day",
      width: "w-24",
      area: "line",
      look: "figure",
      cell: ({ bytesPerDay }) => (
        <span className="text-muted">{bytesPerDay === null ? NONE : formatGrowth(bytesPerDay)}</span>
      ),
    },
    {
      head: "Kept",
      width: "w-20",
      area: "line",
      look: "figure",
      title: "For how long the plans of organizations keep these rows",
      cell: ({ kept }) => (
        <span className="text-muted">{kept === "plan" ? describeRetention(retentionDays) : kept}</span>
      ),
    },
  ];
  return (
    <section aria-label="Database">
      <PartHead title="Database">
        <p className="text-muted text-xs">
          {disk.databaseHere ? "Disk" : "This process's disk"}: {formatBytes(disk.free)} of{" "}
          {formatBytes(disk.total)} free{full === null ? null : `, ${full}`}
        </p>
      </PartHead>
      <LineList
        columns={columns}
        form="table"
        keyOf={({ name }) => name ?? ""}
        label="Tables by size"
        lines={size.data ? rowsOf(tables) : null}
      />
    </section>
  );
}

/** On a phone, a name may take two lines. */
function breakable(name: string) {
  return name.split(/(?<=_)/).map((part) => (
    <Fragment key={part}>
      {part}
      <wbr />
    </Fragment>
  ));
}

function rowsOf(tables: readonly TableSize[]): Row[] {
  const shown = tables.slice(0, SHOWN).map((table) => ({ ...table, others: 0 }));
  const others = tables.slice(SHOWN);
  if (others.length === 0) return shown;
  const growth = others.map(({ bytesPerDay }) => bytesPerDay);
  const rest: Row = {
    name: null,
    others: others.length,
    bytes: others.reduce((sum, { bytes }) => sum + bytes, 0),
    bytesPerDay: growth.includes(null) ? null : growth.reduce<number>((sum, each) => sum + (each ?? 0), 0),
    kept: null,
  };
  return [...shown, rest];
}
