import { PartHead } from "@/app/_ui/figures/facts";
import { formatBytes, formatCount, formatUptime, NONE, percent } from "@/app/_ui/figures/format";
import { Empty } from "@/app/_ui/page/page";
import { type LineColumn, LineList } from "@/app/_ui/table";
import type { SystemProcess, SystemStatus } from "@/server/operate/system/status";

const DOES = { all: "Web, worker", web: "Web", worker: "Worker" } as const;

const columnsAt = (at: string): LineColumn<SystemProcess>[] => [
  {
    head: "Process",
    area: "start",
    cell: ({ host, pid }) => (
      <span className="flex min-w-0 items-baseline gap-2">
        <span className="truncate font-medium" title={host ?? undefined}>
          {host ?? "unknown"}
        </span>
        {pid === null ? null : <span className="shrink-0 text-muted">pid {pid}</span>}
      </span>
    ),
  },
  {
    head: "Does",
    width: "w-28",
    area: "wide",
    look: "muted",
    cell: ({ role }) => (role === null ? NONE : DOES[role]),
  },
  {
    head: "Slots",
    width: "w-44",
    area: "lastStart",
    look: "line",
    cell: ({ figures }) =>
      figures === null || figures.slots.total === 0 ? (
        <span className="text-muted">{NONE}</span>
      ) : (
        <SlotBar {...figures.slots} />
      ),
  },
  {
    head: "Event loop",
    width: "w-28",
    area: "wide",
    look: "figure",
    title:
      "How late timers fired in the last minute: 99 of 100 by at most the first figure, all by the second",
    cell: ({ figures }) => <Muted>{figures && describeDelay(figures.loopDelay)}</Muted>,
  },
  {
    head: "Memory",
    width: "w-24",
    area: "last",
    look: "figure",
    cell: ({ figures }) => <Muted>{figures && formatBytes(figures.memoryBytes)}</Muted>,
  },
  {
    head: "Connections",
    width: "w-28",
    area: "wider",
    look: "figure",
    cell: ({ figures }) => (
      <Muted>{figures && `${figures.connections.used} of ${figures.connections.most}`}</Muted>
    ),
  },
  {
    head: "Version",
    width: "w-20",
    area: "wider",
    look: "figure",
    cell: ({ figures }) => <Muted>{figures?.version}</Muted>,
  },
  {
    head: "Up",
    width: "w-28",
    area: "wider",
    look: "figure",
    cell: ({ figures }) => <Muted>{figures && formatUptime(figures.upSeconds)}</Muted>,
  },
  {
    head: "Heartbeat",
    width: "w-26",
    area: "end",
    look: "figure",
    cell: ({ heartbeatAt }) => {
      const seconds = Math.max(0, Date.parse(at) - Date.parse(heartbeatAt)) / 1_000;
      return `${seconds.toFixed(1)} s ago`;
    },
  },
];

/** The processes that reported within the last seconds. */
export function Processes({ status: { at, processes } }: { status: SystemStatus }) {
  return (
    <section aria-label="Processes">
      <PartHead title="Processes" />
      <LineList
        columns={columnsAt(at)}
        empty={
          <Empty title="No process reports">
            <p>A process reports itself twice a second. One that stopped is not shown.</p>
          </Empty>
        }
        keyOf={({ id }) => id}
        label="Processes"
        lines={processes}
      />
    </section>
  );
}

const describeDelay = ({ p99Ms, longestMs }: { p99Ms: number; longestMs: number }) =>
  `${formatCount(p99Ms)} / ${formatCount(longestMs)} ms`;

function Muted({ children }: { children: string | null | undefined }) {
  return <span className="text-muted">{children ?? NONE}</span>;
}

function SlotBar({ used, total }: { used: number; total: number }) {
  return (
    <span className="inline-flex items-center gap-2.5">
      <svg aria-hidden="true" className="shrink-0" height="8" width="72">
        <rect className="fill-hover" height="8" rx="2" width="100%" />
        <rect className="fill-running-fill" height="8" rx="2" width={percent(Math.min(1, used / total))} />
      </svg>
      <span>
        {formatCount(used)} <span className="text-muted">of {formatCount(total)}</span>
      </span>
    </span>
  );
}
