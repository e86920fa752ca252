import { ZERO } from "@/server/base/amount";
import { type Json, readJson } from "@/server/base/json/json";
import { readLargeJson } from "@/server/base/json/large";
import type { Services } from "@/server/runs/services";
import { freezeConfiguration, type Target, targetColumns } from "@/server/runs/target";
import { answersWithJson, type RunConfiguration, runConfiguration } from "@/server/work/agent/definition";
import { MAX_CALLED_RUNS, MAX_RUN_DEPTH } from "@/server/work/functions/run-tool";
import { claimRun } from "../../claim";
import { type ClaimedRun, capColumns, capOfTarget, FIRST_CLAIM } from "../../claimed-run";
import { endUnclaimable } from "../../slots/slot";
import type { ChildOutcome, Execution } from "../execution";

export type Child = {
  target: Pick<Target, "id" | "version" | "deadlineSeconds" | "maxCredits"> & {
    configuration: RunConfiguration;
  };
  input: string;
};

export type ChildCall = {
  id: string;
  /** For a new child. Throws FunctionError. */
  find(): Promise<Child>;
  /** Links the caller's step with the child, before the child executes. */
  link(): void;
};

/**
 * Executes a child run with its own journal, and with the worker, slot and hold of its caller. Continues one that
 * an earlier worker began, or reads how it ended, whatever its target is by now. `signal` fires with the caller's
 * step.
 */
export async function executeChildRun(
  execution: Execution,
  { id, find, link }: ChildCall,
  signal: AbortSignal = execution.signal,
): Promise<ChildResult> {
  const { services, worker, run, depth, tree } = execution;
  if (run.epoch > 1) {
    const claimed = await claimRun(services, { runId: id }, worker.id);
    if (claimed) {
      link();
      return readResult(await execution.runChild(claimed, { signal }), claimed.configuration);
    }
    const ended = await readEnd(services, id);
    if (ended) {
      link();
      return ended;
    }
  }
  const { target, input } = await find();
  if (depth >= MAX_RUN_DEPTH) {
    const message = `Runs may call each other at most ${MAX_RUN_DEPTH} deep.`;
    return { status: "Failed", code: "too_deep", message };
  }
  if (tree.started >= MAX_CALLED_RUNS) {
    const message = `A run and those that it calls may start at most ${MAX_CALLED_RUNS} runs.`;
    return { status: "Failed", code: "too_many_runs", message };
  }
  tree.started += 1;
  link();
  services.metrics.runsStarted.of(target.configuration.kind, "run").value += 1;
  const { configuration, deadlineSeconds, maxCredits } = target;
  const { document, hash } = freezeConfiguration(configuration, run.prices);
  const now = services.clock.now();
  const cap = capOfTarget(configuration.kind, maxCredits);
  const child: ClaimedRun = {
    ...FIRST_CLAIM,
    id,
    orgId: run.orgId,
    kind: configuration.kind,
    source: "run",
    targetId: target.id,
    configuration,
    configurationHash: hash,
    prices: run.prices,
    input,
    rootRunId: run.rootRunId,
    traceParent: run.traceParent,
    createdAt: now,
    startedAt: now,
    deadlineSeconds,
    endsAtMs: services.clock.monotonicMs() + deadlineSeconds * 1000,
    cap,
    held: ZERO,
  };
  // Not awaited: the child's rows follow in the same lane, and its end waits for this row.
  const inserted = worker.journal.child({
    id,
    org: run.orgId,
    ...targetColumns(target),
    hash,
    document,
    parent: run.id,
    root: run.rootRunId,
    input,
    ...capColumns(cap),
    deadline: deadlineSeconds,
  });
  return readResult(await execution.runChild(child, { inserted, signal }), configuration);
}

/** The end of a child; `output` is the value if its output is JSON, else its text. */
export type ChildResult = Exclude<ChildOutcome, { output: string }> | { status: "Completed"; output: Json };

// `configuration` is the child's own; its agent may have another output schema by now.
async function readResult(outcome: ChildOutcome, configuration: RunConfiguration): Promise<ChildResult> {
  if (outcome.status !== "Completed" || !answersWithJson(configuration)) return outcome;
  return { status: "Completed", output: await readLargeJson(outcome.output) };
}

// A child that was to be cancelled when its worker was replaced ends here.
async function readEnd(services: Services, id: string): Promise<ChildResult | null> {
  await endUnclaimable(services, { runId: id });
  const run = await services.db.run.findUnique({
    where: { id },
    select: { kind: true, status: true, output: true, errorMessage: true, configuration: true },
  });
  if (run === null) return null;
  const { kind, status, output, errorMessage, configuration } = run;
  if (status === "Completed") {
    const frozen = runConfiguration.parse(readJson(configuration.document));
    return readResult({ status, output: output ?? "null" }, frozen);
  }
  if (status !== "Failed" && status !== "Cancelled")
    throw new Error(`child run ${id} is open and cannot be claimed`);
  return { status, code: "run_failed", message: errorMessage ?? `The ${kind}'s run ended as ${status}.` };
}
