import { perOwner } from "@/server/base/per-owner";
import type { Services } from "@/server/catalog/services";
import { formatLimit, KIB, MIB } from "@/server/contract/sizes";
import { createByteBudget, createMemoryWindow } from "@/server/guard/limits/memory-guards";
import type { CallContent } from "@/server/runs/received-delivery";

/**
 * Bounds for stored calls that start no run, so that calls of one URL cannot fill the disk. Each process has its
 * own budgets a minute; an hourly job deletes what exceeds `kept`.
 */
export const UNACCEPTED = {
  seconds: 60,
  /** Bodies larger than `smallBytes`. */
  bodyBytes: 8 * MIB,
  smallBytes: 4 * KIB,
  /** All else: rows, headers and small bodies. */
  rowBytes: 2 * MIB,
  kept: { bodyBytes: 256 * MIB, rows: 20_000 },
} as const;

// Without headers and body, with index entries.
const ROW_BYTES = 512;

const budgets = perOwner(({ clock }: Pick<Services, "pool" | "clock">) => ({
  bodies: createByteBudget(UNACCEPTED.bodyBytes, UNACCEPTED.seconds, clock),
  rows: createByteBudget(UNACCEPTED.rowBytes, UNACCEPTED.seconds, clock),
  // Beyond the budget of rows, only the first call of each minute is recorded.
  floods: createMemoryWindow(1, UNACCEPTED.seconds, clock),
}));

const REPETITION = "it repeats an earlier call, whose delivery has the body";
const BODIES_SPENT = `more than ${formatLimit(UNACCEPTED.bodyBytes)} of calls that started nothing came to this trigger in a minute`;
const ROWS_SPENT =
  "this trigger gets too many calls that start nothing; the others of this minute are not recorded";

/** The stored part of a call that starts no run; null if it is not recorded. Counts it. */
export function boundDelivery<Delivery extends CallContent>(
  services: Pick<Services, "pool" | "clock">,
  { triggerId }: { triggerId: string },
  { delivery, outcome }: { delivery: Delivery; outcome: "repeated" | "rejected" | "filtered" },
): Delivery | null {
  const { bodies, rows, floods } = budgets(services);
  const stored = outcome === "repeated" ? withoutBody(delivery, REPETITION) : delivery;
  const bytes = stored.body.length;
  const isSmall = bytes <= UNACCEPTED.smallBytes;
  const { headers, signatureCheck = "" } = stored;
  const rowBytes = ROW_BYTES + headers.length + signatureCheck.length + (isSmall ? bytes : 0);
  if (!rows.takes(triggerId, rowBytes)) {
    if (!floods.allows(triggerId)) return null;
    const bare = { ...withoutBody(stored, ROWS_SPENT), headers: "{}" };
    delete bare.signatureCheck;
    return bare;
  }
  return isSmall || bodies.takes(triggerId, bytes) ? stored : withoutBody(stored, BODIES_SPENT);
}

function withoutBody<Delivery extends CallContent>(delivery: Delivery, reason: string): Delivery {
  const bytes = delivery.notStored?.bytes ?? delivery.body.length;
  return { ...delivery, body: Buffer.alloc(0), notStored: { bytes, reason } };
}
