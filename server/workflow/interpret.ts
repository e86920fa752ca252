import type { ExpressionFacts } from "@/server/expressions/jsonata";
import { inferSchema } from "@/server/json/infer-schema";
import { isJsonObject, type Json, type JsonObject } from "@/server/json/json";
import { largeJsonBytes } from "@/server/json/large";
import { validateAgainst } from "@/server/json/schema";
import { describeIssues } from "@/server/json/schema-issues";
import {
  MAX_FINAL_OUTPUT_BYTES,
  MAX_STEP_INPUTS_BYTES,
  MAX_STEP_OUTPUT_BYTES,
  MAX_STEP_OUTPUTS_BYTES,
  MIB,
} from "@/server/limits/sizes";
import { runConcurrently, StepFailure, settle, toFailure } from "@/server/workflow/concurrency";
import {
  type CallStep,
  WORKFLOW_LIMITS,
  type WorkflowDefinition,
  type WorkflowStep,
} from "@/server/workflow/definition";
import { evaluateIn, fillIn, isTrue, parseCondition, type Scope } from "@/server/workflow/expressions";
import type { RunFacts, WorkflowCall, WorkflowJournal } from "@/server/workflow/journal";
import { retryPolicyOf } from "@/server/workflow/retry-policy";

/** What calls of one act have in common. */
type Act = Pick<WorkflowCall, "act" | "width">;

type WorkflowRun = { input: JsonObject; facts: RunFacts; journal: WorkflowJournal };

type WorkflowOutcome =
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

/**
 * Runs a tool's workflow over checked input. Pure: the same definition, input, facts and results of calls give the same
 * calls and outcome. So a run can be replayed from its journal. In `steps`, a skipped step is null, and one that
 * failed with onError: continue is `{"error": message, "code": …}`.
 */
export async function runWorkflow(
  definition: WorkflowDefinition,
  run: WorkflowRun,
): Promise<WorkflowOutcome> {
  const workflow = new Workflow(definition, run);
  try {
    for (const step of definition.steps) {
      const failure = await workflow.runStep(step);
      if (failure === null) continue;
      const { message } = failure.at(`Step "${step.id}" failed`);
      return { status: "Failed", code: "step_failed", message };
    }
    return await workflow.finish();
  } catch (error) {
    const message = `The output could not be evaluated: ${toFailure(error).message}`;
    return { status: "Failed", code: "output_failed", message };
  }
}

const mib = (bytes: number) => `${bytes / MIB} MiB`;

/** The items of a forEach. JSONata gives a list of one as its only element, and a list of none as nothing. */
function itemsOf(found: Json | undefined): Json[] {
  if (Array.isArray(found)) return found;
  return found === undefined || found === null ? [] : [found];
}

class Workflow {
  readonly #definition: WorkflowDefinition;
  readonly #run: WorkflowRun;
  /** What expressions see as `steps`: the outputs of the steps that have ended. */
  readonly #outputs = new Map<string, Json>();
  #outputBytes = 0;
  #inputBytes = 0;

  constructor(definition: WorkflowDefinition, run: WorkflowRun) {
    this.#definition = definition;
    this.#run = run;
  }

  #scope(): Scope {
    const { input, facts } = this.#run;
    const run = { id: facts.id, startedAt: facts.startedAt.toISOString(), tool: facts.toolName };
    return { input, run, steps: Object.fromEntries(this.#outputs) };
  }

  #factsAt(location: string): ExpressionFacts {
    const { id, startedAt, organizationId, signal } = this.#run.facts;
    return { now: startedAt, seed: `${id}/${location}`, organizationId, signal };
  }

  /** Runs a step and keeps its output. Returns why it failed, unless it continues on errors. */
  async runStep(step: WorkflowStep): Promise<StepFailure | null> {
    const outputs = new Map<string, Json>();
    const { output, failure } = await settle(step, this.#runAndCount(step, outputs));
    for (const [id, inner] of outputs) this.#outputs.set(id, inner);
    this.#outputs.set(step.id, output);
    return failure;
  }

  async #runAndCount(step: WorkflowStep, outputs: Map<string, Json>): Promise<Json> {
    const output = await this.#execute(step, this.#scope(), outputs);
    const bytes = await largeJsonBytes(output);
    this.#outputBytes += bytes;
    if (this.#outputBytes <= MAX_STEP_OUTPUTS_BYTES) return output;
    throw new StepFailure(
      "output_too_large",
      `the outputs of all steps together are larger than ${mib(MAX_STEP_OUTPUTS_BYTES)}`,
    );
  }

  /** The output of a step; `outputs` takes those of the steps in a group. */
  async #execute(step: WorkflowStep, scope: Scope, outputs: Map<string, Json>): Promise<Json> {
    const { parallel, uses } = step;
    if (parallel === undefined) {
      if (uses === undefined) throw new Error(`The step ${step.id} has neither uses nor parallel.`);
      return this.#executeCall({ ...step, uses }, scope, { act: step.id, width: 1 });
    }
    for (const { id } of parallel) outputs.set(id, null);
    if (await this.#isSkipped(step, scope)) return null;
    const width = Math.min(step.concurrency ?? parallel.length, parallel.length);
    const act = { key: step.id, name: `${step.id}: ${parallel.length} steps` };
    const concurrency = { limit: width, fork: this.#run.journal.fork, act };
    await runConcurrently(parallel, concurrency, async (inner) => {
      const call = this.#executeCall(inner, scope, { act: step.id, width });
      const { output, failure } = await settle(inner, call);
      outputs.set(inner.id, output);
      if (failure !== null) throw failure.at(`step "${inner.id}"`);
    });
    return Object.fromEntries(parallel.map(({ id }) => [id, outputs.get(id) ?? null]));
  }

  async #evaluate(text: string, scope: Scope, location: string): Promise<Json | undefined> {
    const facts = this.#factsAt(location);
    return evaluateIn(scope, await parseCondition(text, facts.organizationId), facts);
  }

  async #isSkipped(step: { id: string; if?: string | undefined }, scope: Scope): Promise<boolean> {
    return step.if !== undefined && !isTrue(await this.#evaluate(step.if, scope, `${step.id}/if`));
  }

  async #executeCall(step: CallStep, scope: Scope, act: Act): Promise<Json> {
    if (await this.#isSkipped(step, scope)) return null;
    if (step.forEach === undefined) return this.#call(step, { itemIndex: null, ...act }, scope);
    const items = itemsOf(await this.#evaluate(step.forEach, scope, `${step.id}/forEach`));
    return this.#executeForEach(step, scope, { items, act: act.act });
  }

  /** The output of one call. Throws StepFailure when it failed or returned too much. */
  async #call(
    step: CallStep,
    { itemIndex, ...act }: Act & Pick<WorkflowCall, "itemIndex">,
    scope: Scope,
  ): Promise<Json> {
    const key = itemIndex === null ? step.id : `${step.id}[${itemIndex}]`;
    // Only the inputs of calls may refer to secrets.
    const { placeholderOf } = this.#run.facts;
    const input = await fillIn(step.with, scope, { ...this.#factsAt(key), placeholderOf });
    if (!isJsonObject(input)) throw new StepFailure("invalid_input", "its input is not an object");
    // Parallel calls add to the sum, so it is read after the wait.
    const inputBytes = await largeJsonBytes(input);
    this.#inputBytes += inputBytes;
    if (this.#inputBytes > MAX_STEP_INPUTS_BYTES)
      throw new StepFailure(
        "input_too_large",
        `the inputs of all calls together are larger than ${mib(MAX_STEP_INPUTS_BYTES)}`,
      );
    const result = await this.#run.journal.call({
      key,
      stepId: step.id,
      itemIndex,
      functionName: step.uses,
      input,
      retries: retryPolicyOf(step.retries),
      timeoutMs: step.timeoutMs ?? null,
      ...act,
    });
    if (!result.ok) throw new StepFailure(result.code, result.message);
    if ((await largeJsonBytes(result.output)) > MAX_STEP_OUTPUT_BYTES)
      throw new StepFailure("output_too_large", `its output is larger than ${mib(MAX_STEP_OUTPUT_BYTES)}`);
    return result.output;
  }

  /** The outputs of the items in their order; `concurrency` items are under way at a time (1 when unset). */
  async #executeForEach(
    step: CallStep,
    scope: Scope,
    { items, act }: { items: Json[]; act: string },
  ): Promise<Json> {
    const { items: mostItems } = WORKFLOW_LIMITS;
    if (items.length > mostItems) {
      const message = `forEach has ${items.length} items; at most ${mostItems} are allowed`;
      throw new StepFailure("limit_exceeded", message);
    }
    const outputs: Json[] = Array.from({ length: items.length }, () => null);
    let bytes = 0;
    const width = Math.min(step.concurrency ?? 1, items.length);
    const all = { key: step.id, name: `${step.id}: ${items.length} items` };
    const concurrency = { limit: width, fork: this.#run.journal.fork, act: all };
    await runConcurrently(items, concurrency, async (item, index) => {
      const itemScope = { ...scope, [step.as ?? "item"]: item };
      const call = this.#call(step, { itemIndex: index, act, width }, itemScope);
      const { output, failure } = await settle(step, call);
      if (failure !== null) throw failure.at(`item ${index}`);
      outputs[index] = output;
      // Parallel items add to the sum, so it is read after the wait.
      const size = await largeJsonBytes(output);
      bytes += size;
      if (bytes > MAX_FINAL_OUTPUT_BYTES)
        throw new StepFailure(
          "output_too_large",
          `its outputs together are larger than ${mib(MAX_FINAL_OUTPUT_BYTES)}`,
        );
    });
    return outputs;
  }

  /** The run's output: the definition's, else the last step's; checked against the declared schema. */
  async finish(): Promise<WorkflowOutcome> {
    const { steps, output: template, outputSchema } = this.#definition;
    const last = steps.at(-1);
    const facts = this.#factsAt("output");
    const output =
      template === undefined
        ? ((last && this.#outputs.get(last.id)) ?? null)
        : await fillIn(template, this.#scope(), facts);
    if ((await largeJsonBytes(output)) > MAX_FINAL_OUTPUT_BYTES) {
      const message = `The output is larger than ${mib(MAX_FINAL_OUTPUT_BYTES)}.`;
      return { status: "Failed", code: "output_too_large", message };
    }
    if (outputSchema === undefined) return { status: "Completed", output, outputSchema: inferSchema(output) };
    const issues = await validateAgainst(outputSchema, output, facts.organizationId);
    if (issues.length > 0) {
      const message = `The output does not match the output schema: ${describeIssues(issues)}.`;
      return { status: "Failed", code: "output_invalid", message };
    }
    return { status: "Completed", output, outputSchema };
  }
}
