import { createHash } from "node:crypto";
import type { AttachedCallable, ToolConfiguration } from "@/server/agent/definition";
import { Decimal, ZERO } from "@/server/credits/amount";
import { creditsOfActions, freezePrices } from "@/server/credits/prices";
import type { JsonObject } from "@/server/json";
import type { Services } from "@/server/services";
import { exactly } from "./budget";
import { storeCut } from "./call-function";
import { childRunId } from "./child-run-id";
import { claimRun } from "./claim";
import type { ClaimedRun } from "./claimed-run";
import { endUnclaimedRun } from "./end-run";
import type { ChildOutcome, Execution } from "./execution";
import type { FinishedStep, NewStep } from "./journal";
import { readState } from "./run-state";

type AttachedTool = Extract<AttachedCallable, { kind: "tool" }>;

/**
 * Executes a tool that an agent called: a child run with a journal of its own, on the same worker, slot and hold, so that it
 * cannot wait for its parent. To the caller it is one step and one action.
 */
export async function callTool(
  execution: Execution,
  step: Omit<NewStep, "childRunId">,
  { callable, input }: { callable: AttachedTool; input: JsonObject },
): Promise<FinishedStep> {
  const { services, run, budget, signal, journal } = execution;
  const id = childRunId(run.id, step.key);
  const begun = await journal.beginStep({ ...step, childRunId: id });
  try {
    const price = creditsOfActions(run.prices, 1);
    const reserved = await budget.reserve(exactly(price));
    const startedAt = services.clock.now();
    const ended = await executeChild(execution, id, callable, input).catch(async (error: unknown) => {
      await budget.spend(reserved, ZERO);
      throw error;
    });
    const credits = await budget.spend(reserved, price);
    signal.throwIfAborted();
    const error = ended.status === "Completed" ? null : ended.message;
    const stored =
      ended.status === "Completed" ? storeCut(JSON.parse(ended.output)) : { error: ended.message };
    begun.attempts.push({
      startedAt: startedAt.toISOString(),
      durationMs: services.clock.now().getTime() - startedAt.getTime(),
      error,
    });
    return journal.finishStep(begun, {
      output: "text" in stored ? stored.text : JSON.stringify({ error: stored.error }),
      error,
      actions: 1,
      credits,
    });
  } catch (error) {
    journal.abandon(begun);
    throw error;
  }
}

/** Goes on with the child that an earlier worker began, reads how it ended, or begins it. */
async function executeChild(
  execution: Execution,
  id: string,
  callable: AttachedTool,
  input: JsonObject,
): Promise<ChildOutcome> {
  const { services, worker, run } = execution;
  if (run.epoch > 1) {
    const claimed = await claimRun(services, id, worker.id);
    if (claimed) return execution.runChild(claimed);
    const ended = await readEnd(services, id);
    if (ended) return ended;
  }
  const configuration: ToolConfiguration = {
    kind: "tool",
    name: callable.title,
    definition: callable.definition,
  };
  const document = JSON.stringify({ ...configuration, prices: freezePrices(run.prices) });
  const hash = createHash("sha256").update(document).digest("hex");
  const text = JSON.stringify(input);
  const now = services.clock.now();
  const cap =
    callable.maxCredits === null
      ? null
      : { credits: new Decimal(callable.maxCredits), of: "the tool's setting" };
  const child: ClaimedRun = {
    id,
    orgId: run.orgId,
    kind: "tool",
    targetId: callable.toolId,
    epoch: 1,
    segment: 1,
    configuration,
    configurationHash: hash,
    prices: run.prices,
    input: text,
    rootRunId: run.rootRunId,
    createdAt: now,
    startedAt: now,
    deadlineSeconds: callable.deadlineSeconds,
    cap,
    held: ZERO,
    sequence: 1,
    yieldedAt: null,
  };
  // The child's rows follow in the same lane, and its end waits for this one: nobody else has to.
  const inserted = worker.journal.child({
    id,
    org: run.orgId,
    kind: "tool",
    agent: null,
    tool: callable.toolId,
    name: callable.title,
    version: callable.version,
    model: null,
    hash,
    document,
    parent: run.id,
    root: run.rootRunId,
    input: text,
    cap: callable.maxCredits,
    cap_of: cap?.of ?? null,
    deadline: callable.deadlineSeconds,
  });
  return execution.runChild(child, inserted);
}

/** How a child that cannot be claimed ended; one that was to be cancelled when its worker was replaced ends here. */
async function readEnd(services: Services, id: string): Promise<ChildOutcome | null> {
  const state = await readState(services, id);
  if (state === null) return null;
  if (state.cancelledBy !== null && !state.terminal) {
    await endUnclaimedRun(services, id, { status: "Cancelled", by: state.cancelledBy });
  }
  const { status, output, errorMessage } = await services.db.run.findUniqueOrThrow({
    where: { id },
    select: { status: true, output: true, errorMessage: true },
  });
  if (status === "Completed") return { status, output: output ?? "null" };
  if (status !== "Failed" && status !== "Cancelled")
    throw new Error(`child run ${id} is open and cannot be claimed`);
  return { status, message: errorMessage ?? `The tool's run ended as ${status}.` };
}
