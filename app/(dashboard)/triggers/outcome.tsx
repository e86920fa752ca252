import { StatusShape } from "@/app/_ui/status";
import type { DeliveryOutcomeWord } from "@/server/webhooks/inspect-deliveries";

const SHAPES = { accepted: "Completed", repeated: "Cancelled", rejected: "Failed" } as const;

/** A delivery's outcome as shape and word. */
export function OutcomeMark({ outcome }: { outcome: DeliveryOutcomeWord }) {
  return (
    <span className="inline-flex items-center gap-1.5">
      <StatusShape status={SHAPES[outcome]} />
      <span className="self-baseline font-medium">{outcome}</span>
    </span>
  );
}
