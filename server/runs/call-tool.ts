import { createHash } from "node:crypto";
import type { AttachedCallable, ToolConfiguration } from "@/server/agent/definition";
import { creditsOfActions, freezePrices } from "@/server/credits/prices";
import type { JsonObject } from "@/server/json";
import { storeCut } from "./call-function";
import type { Execution } from "./execution";
import { finishStep, RunLost, type StoredStep } from "./journal";
import { exactly } from "./purse";

/**
 * Executes a tool that an agent called: a child run with rows of its own, in the same worker and on the root's hold,
 * so it needs no place of its own and cannot wait for its parent. To the caller it is one step and one action.
 */
export async function callTool(
  execution: Execution,
  step: { key: string; stepNumber: number; childRunId: string | null },
  callable: Extract<AttachedCallable, { kind: "tool" }>,
  input: JsonObject,
): Promise<StoredStep> {
  const { services, run, purse, signal } = execution;
  const { childRunId } = step;
  if (childRunId === null) throw new Error(`step ${step.key} of run ${run.id} has no child run id`);
  const price = creditsOfActions(run.prices, 1);
  const reserved = await purse.reserve(exactly(price));
  const startedAt = services.clock.now();

  await insertChild(execution, childRunId, callable, input);
  await execution.runChild(childRunId);
  const ended = await services.db.run.findUniqueOrThrow({ where: { id: childRunId } });
  signal.throwIfAborted();

  const error =
    ended.status === "Completed" ? null : (ended.errorMessage ?? `The tool's run ended as ${ended.status}.`);
  const stored = error === null ? storeCut(JSON.parse(ended.output ?? "null")) : { error };
  const output = "text" in stored ? stored.text : JSON.stringify({ error: stored.error });
  const credits = await purse.spend(reserved, price);
  const durationMs = services.clock.now().getTime() - startedAt.getTime();
  const attempts = [
    ...(execution.interrupted.get(step.key) ?? []),
    { startedAt: startedAt.toISOString(), durationMs, error },
  ];
  await finishStep(services, run, step.key, { output, error, actions: 1, credits, attempts });
  run.creditsUsed = run.creditsUsed.add(credits);
  const finished = { key: step.key, stepNumber: step.stepNumber, output, failed: error !== null };
  execution.steps.set(step.key, finished);
  return finished;
}

const INSERT_CHILD = {
  name: "insert-child-run",
  text: `
  WITH parent AS (
    SELECT id FROM runs WHERE id = $9 AND epoch = $13 AND status = 'Running' FOR SHARE
  ), configured AS (
    INSERT INTO configurations (organization_id, hash, document, created_at) VALUES ($2, $3, $4, $5)
    ON CONFLICT (organization_id, hash) DO NOTHING
  ), inserted AS (
    INSERT INTO runs (id, organization_id, kind, tool_id, target_name, target_version, configuration_hash, source,
                      parent_run_id, root_run_id, input, created_at, admitted_at, deadline_seconds,
                      max_credits, max_credits_of)
    SELECT $1, $2, 'tool', $6, $7, $8, $3, 'run', parent.id, $10, $11, $5, $5, $12, $14::numeric, $15 FROM parent
    ON CONFLICT (id) DO NOTHING
  )
  SELECT 1 FROM parent`,
};

/**
 * Writes the child's row, unless it is there. The parent's row is locked and must still be this worker's: whoever ends
 * the parent ends the children it finds, and one that came later would stay open for ever. Throws RunLost.
 */
async function insertChild(
  { services, run }: Execution,
  childRunId: string,
  callable: Extract<AttachedCallable, { kind: "tool" }>,
  input: JsonObject,
): Promise<void> {
  const configuration: ToolConfiguration = {
    kind: "tool",
    name: callable.title,
    definition: callable.definition,
  };
  const document = JSON.stringify({ ...configuration, prices: freezePrices(run.prices) });
  const { rows } = await services.pool.query({
    ...INSERT_CHILD,
    values: [
      childRunId,
      run.orgId,
      createHash("sha256").update(document).digest(),
      document,
      services.clock.now(),
      callable.toolId,
      callable.title,
      callable.version,
      run.id,
      run.rootRunId,
      JSON.stringify(input),
      callable.deadlineSeconds,
      run.epoch,
      callable.maxCredits,
      callable.maxCredits === null ? null : "the tool's setting",
    ],
  });
  if (rows.length === 0) throw new RunLost(`run ${run.id} is no longer this worker's`);
}
