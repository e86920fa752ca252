"use client";

import { useNow } from "@/app/_ui/data/clock";
import { formatAge, formatDuration } from "@/app/_ui/figures/format";
import { StatusShape } from "@/app/_ui/figures/status";
import { useExact } from "@/app/_ui/figures/time";
import type { CallbackDeliveryLine } from "@/server/catalog/callbacks/inspect-callback-deliveries";

type Attempt = { status: number | null; error: string | null; durationMs: number | null };

/** The result of an attempt in a few words, such as `503 in 210 ms`. */
export function describeAttempt({ status, error, durationMs }: Attempt): string {
  if (durationMs === null) return "Not tried yet";
  if (status !== null) return `${status} in ${formatDuration(durationMs)}`;
  return error ?? "No answer";
}

/** A delivery's state as a shape with its name. */
export function DeliveryShape({ deliveredAt, nextAt, attempts }: CallbackDeliveryLine) {
  const [status, label] =
    deliveredAt !== null
      ? (["Completed", "Delivered"] as const)
      : nextAt !== null && attempts === 0
        ? (["Pending", "Waiting"] as const)
        : (["Failed", "Not delivered"] as const);
  return (
    <>
      <StatusShape status={status} />
      <span className="sr-only">{label}</span>
    </>
  );
}

/** A time to come, such as `in 18 min`. */
export function Until({ at }: { at: string }) {
  const left = new Date(at).getTime() - useNow();
  return <span title={useExact(at)}>{left < 1_000 ? "now" : `in ${formatAge(left)}`}</span>;
}

export function NextAttempt({ nextAt, deliveredAt }: Pick<CallbackDeliveryLine, "nextAt" | "deliveredAt">) {
  if (nextAt !== null) return <Until at={nextAt} />;
  return <span className="text-faint">{deliveredAt === null ? "Given up" : "–"}</span>;
}
