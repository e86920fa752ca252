import dynamic from "next/dynamic";
import { Suspense } from "react";

const RunOutcome = dynamic(() => import("./run-outcome").then((part) => part.RunOutcome));

/** A run that was just started, while it executes and when it has ended. */
export function FollowedRun({ runId }: { runId: string }) {
  return (
    <Suspense fallback={<p className="text-muted">Starting the run</p>} key={runId}>
      <RunOutcome runId={runId} />
    </Suspense>
  );
}
