import clsx from "clsx";
import type { ReactNode } from "react";
import type { RunStatus } from "@/server/contract/enums";

/** A run may wait for a slot; a step may be skipped, or its failure tolerated, by the tool's definition. */
export type RunStatusName = RunStatus | "Waiting" | "Tolerated" | "Skipped";

const COLORS: Record<RunStatusName, string> = {
  Pending: "text-pending",
  Running: "text-running",
  Completed: "text-completed",
  Failed: "text-failed",
  Cancelled: "text-cancelled",
  Waiting: "text-waiting",
  Tolerated: "text-waiting",
  Skipped: "text-cancelled",
};

const RING = <circle cx="6" cy="6" r="4" stroke="currentColor" strokeWidth="1.6" />;
const SHAPES: Record<RunStatusName, ReactNode> = {
  Pending: RING,
  Running: (
    <>
      <circle cx="6" cy="6" opacity="0.3" r="4" stroke="currentColor" strokeWidth="1.6" />
      <path
        className="turning"
        d="M6 2a4 4 0 0 1 4 4"
        stroke="currentColor"
        strokeLinecap="round"
        strokeWidth="1.8"
      />
    </>
  ),
  Completed: <circle cx="6" cy="6" fill="currentColor" r="4.4" />,
  Failed: <rect fill="currentColor" height="8.4" rx="1.2" width="8.4" x="1.8" y="1.8" />,
  Cancelled: (
    <>
      {RING}
      <path d="m3.4 8.6 5.2-5.2" stroke="currentColor" strokeWidth="1.6" />
    </>
  ),
  Waiting: <path d="M6 .9 11.1 6 6 11.1.9 6Z" fill="currentColor" />,
  Tolerated: <path d="M6 1.2 11.2 10.4H.8Z" fill="currentColor" />,
  Skipped: <path d="M2 6h8" stroke="currentColor" strokeLinecap="round" strokeWidth="1.6" />,
};

/** The shape of a status, so that color is never the only sign. */
export function StatusShape({ status, className }: { status: RunStatusName; className?: string }) {
  return (
    <svg
      aria-hidden="true"
      className={clsx("shrink-0", COLORS[status], className)}
      fill="none"
      height="12"
      viewBox="0 0 12 12"
      width="12"
    >
      {SHAPES[status]}
    </svg>
  );
}

export function shownStatus(status: RunStatusName, waiting: boolean): RunStatusName {
  return waiting && status === "Running" ? "Waiting" : status;
}

type StatusProps = { status: RunStatusName; waiting?: boolean; compact?: boolean; className?: string };

/** A status as shape and text; with `compact`, a phone shows the shape only. */
export function Status({ status, waiting = false, compact = false, className }: StatusProps) {
  const shown = shownStatus(status, waiting);
  return (
    <span
      className={clsx("inline-flex items-center gap-1.5 whitespace-nowrap", COLORS[shown], className)}
      title={shown === "Waiting" ? "The run waits for a free slot." : undefined}
    >
      <StatusShape status={shown} />
      <span className={clsx("self-baseline font-medium", compact && "max-md:sr-only")}>{shown}</span>
    </span>
  );
}
