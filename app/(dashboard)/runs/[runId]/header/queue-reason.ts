import { formatPlural } from "@/app/_ui/figures/format";
import type { Liveness } from "@/server/runs/read/liveness";

/** One sentence on why a run has not started. */
export function queueReason({ ahead, slots, taken }: NonNullable<Liveness["queue"]>): string {
  const before = ahead === 0 ? "this run is next" : `${formatPlural(ahead, "run")} will start first`;
  if (taken >= slots) {
    return slots === 1
      ? `The plan's only slot is taken; ${before}.`
      : `All ${slots} slots of the plan are taken; ${before}.`;
  }
  return ahead === 0
    ? "A slot is free. The run is about to start."
    : `The plan has free slots, but the server is busy; ${before}.`;
}
