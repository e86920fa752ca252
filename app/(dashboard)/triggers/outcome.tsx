import clsx from "clsx";
import { StatusShape } from "@/app/_ui/figures/status";
import type { DeliveryOutcomeName } from "@/server/contract/enums";

const LOOKS = {
  accepted: { shape: "Completed", color: "text-completed" },
  repeated: { shape: "Cancelled", color: "text-cancelled" },
  rejected: { shape: "Failed", color: "text-failed" },
  filtered: { shape: "Cancelled", color: "text-cancelled" },
} as const;

export function OutcomeMark({ outcome, compact }: { outcome: DeliveryOutcomeName; compact?: boolean }) {
  const { shape, color } = LOOKS[outcome];
  return (
    <span className={`inline-flex items-center gap-1.5 ${color}`}>
      <StatusShape status={shape} />
      <span className={clsx("self-baseline font-medium capitalize", compact && "max-md:sr-only")}>
        {outcome}
      </span>
    </span>
  );
}
