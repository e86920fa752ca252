"use client";

import { formatDuration } from "@/app/_ui/figures/format";
import { StatusShape } from "@/app/_ui/figures/status";
import { Ago } from "@/app/_ui/figures/time";
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

/** When a delivery is tried next. */
export function NextAttempt({ nextAt, deliveredAt }: Pick<CallbackDeliveryLine, "nextAt" | "deliveredAt">) {
  if (nextAt !== null) return <Ago at={nextAt} />;
  return <span className="text-faint">{deliveredAt === null ? "Given up" : "–"}</span>;
}
