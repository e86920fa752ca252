import { formatPlural } from "@/app/_ui/format";
import type { Pulse } from "@/server/runs/pulse";

/** One sentence on why a run has not begun. */
export function reasonToWait({ ahead, places, taken }: NonNullable<Pulse["queue"]>): string {
  const before = ahead === 0 ? "it is the next" : `${formatPlural(ahead, "run")} came before it`;
  if (taken >= places) {
    return places === 1
      ? `The plan's only place is taken; ${before}.`
      : `All ${places} places of the plan are taken; ${before}.`;
  }
  return ahead === 0
    ? "A place is free: the run is about to start."
    : `Places of the plan are free, and ${before}: the machine takes up runs in turn.`;
}
