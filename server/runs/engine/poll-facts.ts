import { ZERO } from "@/server/base/amount";
import type { RunFacts } from "@/server/runs/run-facts";
import { type ClaimedRun, isPlatformFailure, type Outcome, type Totals } from "./claimed-run";
import type { ExecutingRun } from "./port";

export function executingRunFacts({ run, totals }: ExecutingRun): RunFacts {
  return {
    id: run.id,
    agentId: run.kind === "agent" ? run.targetId : null,
    toolId: run.kind === "tool" ? run.targetId : null,
    targetName: run.configuration.name,
    configurationHash: run.configurationHash,
    status: "Running",
    input: run.input,
    output: null,
    errorMessage: null,
    cancelledBy: null,
    ...totals,
    createdAt: run.createdAt,
    startedAt: run.startedAt,
    finishedAt: null,
  };
}

export function endedRunFacts(
  run: ClaimedRun,
  { outcome, totals, finishedAt }: { outcome: Outcome; totals: Totals; finishedAt: Date },
): RunFacts {
  return {
    ...executingRunFacts({ run, totals }),
    status: outcome.status,
    output: outcome.status === "Completed" ? outcome.output : null,
    errorMessage: outcome.status === "Failed" ? outcome.message : null,
    cancelledBy: outcome.status === "Cancelled" ? outcome.by : null,
    creditsUsed: isPlatformFailure(outcome) ? ZERO : totals.creditsUsed,
    finishedAt,
  };
}
