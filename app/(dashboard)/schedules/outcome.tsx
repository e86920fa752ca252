import { StatusShape } from "@/app/_ui/figures/status";
import type { TickLine } from "@/server/catalog/schedules/inspect-schedules";

type Outcome = Pick<TickLine, "outcome" | "queuedAt" | "runStatus">;

const LOOKS = {
  started: { shape: "Completed", label: "Started" },
  failed: { shape: "Failed", label: "Run failed" },
  skipped: { shape: "Skipped", label: "Skipped" },
  missed: { shape: "Tolerated", label: "Missed" },
  queued: { shape: "Waiting", label: "Queued" },
  due: { shape: "Pending", label: "Due" },
} as const;

function lookOf({ outcome, queuedAt, runStatus }: Outcome) {
  if (outcome === "started") return LOOKS[runStatus === "Failed" ? "failed" : "started"];
  if (outcome !== null) return LOOKS[outcome];
  return queuedAt === null ? LOOKS.due : LOOKS.queued;
}

/** The outcome of a due time as shape and text. */
export function TickMark({ tick }: { tick: Outcome }) {
  const { shape, label } = lookOf(tick);
  return (
    <span className="inline-flex items-center gap-1.5">
      <StatusShape status={shape} />
      <span className="font-medium">{label}</span>
    </span>
  );
}

/** The last due times, newest right. */
export function LastTicks({ ticks }: { ticks: readonly TickLine[] }) {
  if (ticks.length === 0) return <span className="text-faint">Not due yet</span>;
  const shown = ticks.map((tick) => ({ dueAt: tick.dueAt, ...lookOf(tick) })).reverse();
  return (
    <span
      aria-label={`Last times: ${shown.map(({ label }) => label.toLowerCase()).join(", ")}`}
      className="inline-flex items-center gap-1"
      role="img"
    >
      {shown.map(({ dueAt, shape }) => (
        <StatusShape key={dueAt} status={shape} />
      ))}
    </span>
  );
}
