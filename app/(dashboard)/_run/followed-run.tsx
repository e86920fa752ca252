import dynamic from "next/dynamic";
import { RunFrame } from "./run-frame";

const RunOutcome = dynamic(() => import("./run-outcome").then((part) => part.RunOutcome));

/** A run that was just started, while it executes and when it has ended. */
export function FollowedRun({ runId }: { runId: string }) {
  return (
    <RunFrame runId={runId}>
      <RunOutcome runId={runId} />
    </RunFrame>
  );
}
