import type { RunFacts } from "../run-facts";
import type { ClaimedRun } from "./claimed-run";
import type { Outcome } from "./execution";
import { isPlatformFault } from "./end-run";
import type { RunJournal } from "./journal";
import { ZERO } from "@/server/credits/amount";

/** What polls are told of a run that has just ended here; the same that its row says. */
export function endedRunFacts(
  run: ClaimedRun,
  { outcome, journal, finishedAt }: { outcome: Outcome; journal: RunJournal; finishedAt: Date },
): RunFacts {
  const { totals } = journal;
  return {
    id: run.id,
    agentId: run.kind === "agent" ? run.targetId : null,
    toolId: run.kind === "tool" ? run.targetId : null,
    targetName: run.configuration.name,
    configurationHash: run.configurationHash,
    status: outcome.status,
    input: run.input,
    output: outcome.status === "Completed" ? outcome.output : null,
    errorMessage: outcome.status === "Failed" ? outcome.message : null,
    cancelledBy: outcome.status === "Cancelled" ? outcome.by : null,
    stepsExecuted: totals.steps,
    inputTokens: totals.inputTokens,
    outputTokens: totals.outputTokens,
    actionsUsed: totals.actions,
    creditsUsed: isPlatformFault(outcome) ? ZERO : totals.credits,
    createdAt: run.createdAt,
    startedAt: run.startedAt,
    finishedAt,
  };
}
