import { Empty } from "@/app/_ui/page/page";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import { Queued } from "../header/liveness";

/** Shown instead of the timeline if there are no steps. */
export function NoLines({ run }: { run: RunDetail }) {
  if (run.status === "Pending") {
    return (
      <Empty title="Queued">
        <Queued run={run} />
      </Empty>
    );
  }
  if (run.status === "Running") {
    return (
      <Empty title="Started">
        <p>The first step is about to start.</p>
      </Empty>
    );
  }
  return (
    <Empty title="No steps">
      <p>The run ended before its first step.</p>
    </Empty>
  );
}
