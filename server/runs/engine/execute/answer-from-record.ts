import { z } from "zod";
import { ZERO } from "@/server/base/amount";
import { retryWhileUnavailable } from "@/server/base/db/outage";
import { defineQuery } from "@/server/base/db/statement";
import type { FinishedStep } from "../write/journal-contents";
import type { NewStep } from "../write/journal-rows";
import type { Execution } from "./execution";
import { runStep } from "./run-step";

const READ_OUTPUT = defineQuery(
  "read-recorded-output",
  z.object({ output: z.string(), error: z.string().nullable() }),
  `SELECT output, error_message AS error FROM steps WHERE id = $1 AND organization_id = $2 AND output IS NOT NULL`,
);

/** Finishes a call with the output of a recorded step, or as failed without one. Nothing is executed or charged. */
export function answerFromRecord(
  execution: Execution,
  step: Omit<NewStep, "hasSideEffects">,
  recordedId: string | undefined,
): Promise<FinishedStep> {
  const { services, run, journal, signal } = execution;
  return runStep(execution, { key: step.key, name: step.toolName }, async () => {
    const [recorded] =
      recordedId === undefined
        ? []
        : await retryWhileUnavailable(() => READ_OUTPUT(services.pool, [recordedId, run.orgId]), signal);
    const started = await journal.beginStep({ ...step, hasSideEffects: false });
    return journal.finishStep(started, {
      ...(recorded ?? missing(execution, step)),
      actions: 0,
      credits: ZERO,
    });
  });
}

function missing({ run }: Execution, { toolName }: Pick<NewStep, "toolName">) {
  const error = `The call is not in the record: run ${run.configuration.fork?.runId} has no call of ${toolName} with these arguments left.`;
  const output = JSON.stringify(run.kind === "agent" ? { error } : { error, code: "not_in_record" });
  return { output, error };
}
