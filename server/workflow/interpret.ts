import { ExpressionError } from "@/server/expressions/expression-error";
import type { ExpressionFacts } from "@/server/expressions/jsonata";

import { isJsonObject, type Json, type JsonObject } from "@/server/json";
import { jsonBytes } from "@/server/json-text";
import { MAX_FINAL_OUTPUT_BYTES, MAX_STEP_OUTPUT_BYTES, MAX_STEP_OUTPUTS_BYTES } from "@/server/limits/sizes";
import type { WorkflowDefinition, WorkflowStep } from "@/server/workflow/definition";
import { evaluateIn, fillIn, isTrue, parseCondition, type Scope } from "@/server/workflow/expressions";
import { inferSchema } from "@/server/workflow/infer-schema";
import { validateAgainst } from "@/server/workflow/schema";
import { describeIssues } from "@/server/workflow/schema-issues";

/** One call of a function that the interpreter asks for. */
export type WorkflowCall = {
  /** A stable name within the run: `fetch`, or `fetch[2]` for the third item of a forEach. */
  key: string;
  stepId: string;
  /** The item's index, from 0; null without forEach. */
  itemIndex: number | null;
  functionName: string;
  input: JsonObject;
  /** How often to retry after a failure. */
  retries: number;
  /** The time limit of one attempt in milliseconds; null: the function's own. */
  timeoutMs: number | null;
};

export type WorkflowCallResult = { ok: true; output: Json } | { ok: false; message: string };

/**
 * A tool run's journal. `call` executes the calls of one batch in parallel and returns their results in order; on a
 * replay it returns the stored results. It must return what is stored (after cutting and redaction), never the raw
 * output, and throw only if the run cannot continue (cancelled, deadline, platform fault).
 */
export type WorkflowJournal = { call(batch: WorkflowCall[]): Promise<WorkflowCallResult[]> };

/** Facts that are the same on every replay of a run. */
export type RunFacts = {
  id: string;
  organizationId: string;
  startedAt: Date;
  toolName: string;
  /** Fires when the run must end; the interpreter then throws its reason at the next expression. */
  signal: AbortSignal;
};

export type WorkflowOutcome =
  | {
      status: "Completed";
      output: Json;
      /** The declared schema, or one inferred from the output. */
      outputSchema: JsonObject;
    }
  | {
      status: "Failed";
      code: "step_failed" | "output_failed" | "output_invalid" | "output_too_large";
      message: string;
    };

/** The most items of one forEach. */
export const MAX_ITEMS = 1000;

/** A failed step, which fails the run unless the step has onError: continue. */
class StepFailure extends Error {}

/**
 * Runs a tool's workflow with checked input. Pure: the same definition, input, facts and results give the same calls
 * and outcome, so that a run can be replayed from its journal. In `steps`, a step skipped by `if` is null; `if` is
 * evaluated once, before forEach. One that failed with onError: continue is `{"error": message}`.
 */
export async function runWorkflow(
  definition: WorkflowDefinition,
  input: JsonObject,
  facts: RunFacts,
  journal: WorkflowJournal,
): Promise<WorkflowOutcome> {
  const run = { id: facts.id, startedAt: facts.startedAt.toISOString(), tool: facts.toolName };
  const outputs = new Map<string, Json>();
  let bytes = 0;
  const scope = (): Scope => ({ input, run, steps: Object.fromEntries(outputs) });
  const expressionFacts = (position: string): ExpressionFacts => ({
    now: facts.startedAt,
    seed: `${facts.id}/${position}`,
    organizationId: facts.organizationId,
    signal: facts.signal,
  });
  try {
    for (const step of definition.steps) {
      try {
        const output = await runStep(step, scope(), expressionFacts, journal);
        bytes += jsonBytes(output);
        if (bytes > MAX_STEP_OUTPUTS_BYTES)
          throw new StepFailure("the outputs of all steps together are larger than 16 MiB");
        outputs.set(step.id, output);
      } catch (error) {
        const message = failureMessage(error);
        if (step.onError !== "continue")
          return { status: "Failed", code: "step_failed", message: `Step "${step.id}" failed: ${message}` };
        outputs.set(step.id, { error: message });
      }
    }
    return await finish(definition, scope(), expressionFacts("output"));
  } catch (error) {
    const message = `The output could not be evaluated: ${failureMessage(error)}`;
    return { status: "Failed", code: "output_failed", message };
  }
}

/** The message of a failure of the run itself; other errors are rethrown. */
function failureMessage(error: unknown): string {
  if (error instanceof StepFailure || error instanceof ExpressionError) return error.message;
  throw error;
}

async function runStep(
  step: WorkflowStep,
  scope: Scope,
  factsAt: (position: string) => ExpressionFacts,
  journal: WorkflowJournal,
): Promise<Json> {
  const evaluate = async (condition: string, position: string) => {
    const facts = factsAt(`${step.id}/${position}`);
    return evaluateIn(scope, await parseCondition(condition, facts.organizationId), facts);
  };
  if (step.if !== undefined && !isTrue(await evaluate(step.if, "if"))) return null;
  const makeCall = async (itemIndex: number | null, itemScope: Scope): Promise<WorkflowCall> => {
    const key = itemIndex === null ? step.id : `${step.id}[${itemIndex}]`;
    const input = await fillIn(step.with, itemScope, factsAt(key));
    if (!isJsonObject(input)) throw new StepFailure("its input is not an object");
    return {
      key,
      stepId: step.id,
      itemIndex,
      functionName: step.uses,
      input,
      retries: step.retries ?? 0,
      timeoutMs: step.timeoutMs ?? null,
    };
  };
  if (step.forEach !== undefined) {
    return runForEach(step, scope, await evaluate(step.forEach, "forEach"), makeCall, journal);
  }
  const [result] = await journal.call([await makeCall(null, scope)]);
  return outputOf(result);
}

/** A call's output. Throws StepFailure if the call failed or its output is too large. */
function outputOf(result: WorkflowCallResult | undefined): Json {
  if (result === undefined) throw new Error("The journal gave fewer results than it was asked for.");
  if (!result.ok) throw new StepFailure(result.message);
  if (jsonBytes(result.output) > MAX_STEP_OUTPUT_BYTES)
    throw new StepFailure("its output is larger than 1 MiB");
  return result.output;
}

/** Executes the items, `concurrency` at a time (default 1), in order. */
async function runForEach(
  step: WorkflowStep,
  scope: Scope,
  found: Json | undefined,
  makeCall: (itemIndex: number, scope: Scope) => Promise<WorkflowCall>,
  journal: WorkflowJournal,
): Promise<Json> {
  // JSONata returns a list of one as its only element, and an empty list as nothing.
  const items = Array.isArray(found) ? found : found === undefined || found === null ? [] : [found];
  if (items.length > MAX_ITEMS)
    throw new StepFailure(`forEach has ${items.length} items; at most ${MAX_ITEMS} are allowed`);
  const size = step.concurrency ?? 1;
  const outputs: Json[] = [];
  let bytes = 0;
  for (let start = 0; start < items.length; start += size) {
    const batch: (WorkflowCall | StepFailure)[] = [];
    for (const [offset, item] of items.slice(start, start + size).entries()) {
      try {
        batch.push(await makeCall(start + offset, { ...scope, [step.as ?? "item"]: item }));
      } catch (error) {
        batch.push(new StepFailure(failureMessage(error)));
      }
    }
    const calls = batch.flatMap((entry) => (entry instanceof StepFailure ? [] : [entry]));
    const results = calls.length === 0 ? [] : await journal.call(calls);
    for (const [offset, entry] of batch.entries()) {
      try {
        if (entry instanceof StepFailure) throw entry;
        outputs.push(outputOf(results[calls.indexOf(entry)]));
      } catch (error) {
        const message = failureMessage(error);
        if (step.onError !== "continue") throw new StepFailure(`item ${start + offset}: ${message}`);
        outputs.push({ error: message });
      }
      bytes += jsonBytes(outputs.at(-1) ?? null);
      if (bytes > MAX_FINAL_OUTPUT_BYTES) throw new StepFailure("its outputs together are larger than 4 MiB");
    }
  }
  return outputs;
}

/** The run's output: the definition's, or the last step's, checked against the declared schema. */
async function finish(
  definition: WorkflowDefinition,
  scope: Scope,
  facts: ExpressionFacts,
): Promise<WorkflowOutcome> {
  const last = definition.steps.at(-1);
  const output =
    definition.output === undefined
      ? ((last && scope.steps[last.id]) ?? null)
      : await fillIn(definition.output, scope, facts);
  if (jsonBytes(output) > MAX_FINAL_OUTPUT_BYTES) {
    return { status: "Failed", code: "output_too_large", message: "The output is larger than 4 MiB." };
  }
  const { outputSchema } = definition;
  if (outputSchema === undefined) return { status: "Completed", output, outputSchema: inferSchema(output) };
  const issues = await validateAgainst(outputSchema, output, facts.organizationId);
  if (issues.length > 0) {
    return {
      status: "Failed",
      code: "output_invalid",
      message: `The output does not match the output schema: ${describeIssues(issues)}.`,
    };
  }
  return { status: "Completed", output, outputSchema };
}
