import { isJsonObject, type Json, type JsonObject, memberOf, writeJson } from "@/server/base/json/json";
import { largeJsonBytes, stringifyLarge } from "@/server/base/json/large";
import {
  formatLimit,
  MAX_FINAL_OUTPUT_BYTES,
  MAX_STEP_INPUTS_BYTES,
  MAX_STEP_OUTPUT_BYTES,
  MAX_STEP_OUTPUTS_BYTES,
} from "@/server/contract/sizes";
import type { StepMemory } from "@/server/guard/limits/process-memory";
import { replaceSurrogates } from "@/server/guard/secrets/stored-output";
import type { ExpressionFacts } from "@/server/work/expressions/jsonata";
import { validateAgainst } from "@/server/work/json-schema/schema";
import { describeIssues } from "@/server/work/json-schema/schema-issues";
import { runConcurrently, StepFailure, settle, toFailure } from "@/server/work/workflow/concurrency";
import {
  type CallStep,
  WORKFLOW_LIMITS,
  type WorkflowDefinition,
  type WorkflowStep,
} from "@/server/work/workflow/definition";
import {
  evaluateIn,
  fillIn,
  isTrue,
  parseCondition,
  readPaths,
  type Scope,
} from "@/server/work/workflow/expressions";
import type { RunFacts, WorkflowCall, WorkflowJournal } from "@/server/work/workflow/journal";
import type { PastRun } from "@/server/work/workflow/past-run";
import { retryPolicyOf } from "@/server/work/workflow/retry-policy";
import { createSkipNote } from "@/server/work/workflow/skip-note";
import { StoredJson } from "@/server/work/workflow/stored-json";

type Act = Pick<WorkflowCall, "act" | "width" | "memory"> & { notes: Set<string> };

type WorkflowRun = {
  /** JSON text. */
  input: string;
  /** Outputs of steps that are not executed, by their ids. */
  pinned?: JsonObject | undefined;
  facts: RunFacts;
  /** Of a fork: the runs whose facts the expressions of its first steps see. */
  past?: readonly PastRun[] | undefined;
  journal: WorkflowJournal;
};

type Within = { outputs: Map<string, StoredJson>; memory: StepMemory };

type WorkflowOutcome =
  | {
      status: "Completed";
      /** JSON text. */
      output: string;
    }
  | {
      status: "Failed";
      code: "step_failed" | "output_failed" | "output_invalid" | "output_too_large";
      message: string;
    };

/**
 * Runs a tool's workflow over checked input. Pure, so a run can be replayed from its journal. In `steps`, a skipped
 * step is null, and one that failed with onError: continue is `{"error": message, "code": …}`.
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
    const message = `Could not evaluate the output: ${toFailure(error).message}`;
    return { status: "Failed", code: "output_failed", message };
  }
}

const NOTHING = new StoredJson("null");

/** JSONata gives a list of one as its only element, and an empty list as nothing. */
function itemsOf(found: Json | undefined): Json[] {
  if (Array.isArray(found)) return found;
  return found === undefined || found === null ? [] : [found];
}

class Workflow {
  readonly #definition: WorkflowDefinition;
  readonly #run: WorkflowRun;
  readonly #input: StoredJson;
  readonly #outputs = new Map<string, StoredJson>();
  #seen: Pick<RunFacts, "id" | "startedAt">;
  #past: readonly PastRun[];
  #outputBytes = 0;
  #inputBytes = 0;

  constructor(definition: WorkflowDefinition, run: WorkflowRun) {
    this.#definition = definition;
    this.#run = run;
    this.#seen = run.facts;
    this.#past = run.past ?? [];
    if (this.#past.length > 0) this.#see();
    this.#input = new StoredJson(replaceSurrogates(run.input));
  }

  #scope(): Scope {
    const { id, startedAt } = this.#seen;
    const run = { id, startedAt: startedAt.toISOString(), tool: this.#run.facts.toolName };
    return { values: { input: this.#input, run }, steps: Object.fromEntries(this.#outputs) };
  }

  #factsAt(location: string, memory: StepMemory, notes?: Set<string>): ExpressionFacts {
    const { organizationId, signal } = this.#run.facts;
    const { id, startedAt } = this.#seen;
    const note = (text: string) => void notes?.add(text);
    return { now: startedAt, seed: `${id}/${location}`, organizationId, signal, memory, note };
  }

  /** A past run is seen until its step, or to the end. */
  #see(): void {
    const [past] = this.#past;
    this.#seen = past ? { id: past.id, startedAt: new Date(past.startedAt) } : this.#run.facts;
  }

  #leavePast(isOver: (past: PastRun) => boolean): void {
    if (!this.#past.some(isOver)) return;
    this.#past = this.#past.slice(this.#past.findLastIndex(isOver) + 1);
    this.#see();
  }

  async runStep(step: WorkflowStep): Promise<StepFailure | null> {
    this.#leavePast(({ until }) => until === step.id);
    const memory = this.#run.facts.memory.openStep();
    const outputs = new Map<string, StoredJson>();
    try {
      const { output, failure } = await settle(step, this.#runAndCount(step, { outputs, memory }));
      for (const [id, each] of [...outputs, [step.id, output] as const]) this.#outputs.set(id, each);
      return failure;
    } finally {
      memory.release();
    }
  }

  async #runAndCount(step: WorkflowStep, within: Within): Promise<StoredJson> {
    const output = await this.#execute(step, this.#scope(), within);
    this.#outputBytes += output.bytes;
    if (this.#outputBytes <= MAX_STEP_OUTPUTS_BYTES) return output;
    this.#outputBytes -= output.bytes;
    throw new StepFailure(
      "output_too_large",
      `the outputs of all steps together are larger than ${formatLimit(MAX_STEP_OUTPUTS_BYTES)}`,
    );
  }

  async #execute(step: WorkflowStep, scope: Scope, { outputs, memory }: Within): Promise<StoredJson> {
    const { parallel, uses } = step;
    const pinned = this.#pinnedOutput(step, outputs);
    if (pinned !== null) return pinned;
    if (parallel === undefined) {
      if (uses === undefined) throw new Error(`The step ${step.id} has neither uses nor parallel.`);
      return this.#executeCallStep({ ...step, uses }, scope, { act: step.id, width: 1, memory });
    }
    for (const { id } of parallel) outputs.set(id, NOTHING);
    if (await this.#isSkipped(step, scope, { memory })) return NOTHING;
    const width = Math.min(step.concurrency ?? parallel.length, parallel.length);
    const act = { key: step.id, name: `${step.id}: ${parallel.length} steps` };
    const concurrency = { limit: width, fork: this.#run.journal.fork, act };
    await runConcurrently(parallel, concurrency, async (inner) => {
      const own = memory.openMember();
      const call = this.#executeCallStep(inner, scope, { act: step.id, width, memory: own });
      const { output, failure } = await settle(inner, call).finally(() => own.release());
      outputs.set(inner.id, output);
      if (failure !== null) throw failure.at(`step "${inner.id}"`);
    });
    return StoredJson.object(parallel.map(({ id }) => [id, outputs.get(id) ?? NOTHING]));
  }

  #pinnedOutput({ id, parallel = [] }: WorkflowStep, outputs: Within["outputs"]): StoredJson | null {
    const output = memberOf(this.#run.pinned ?? null, id);
    if (output === undefined) return null;
    for (const inner of parallel) {
      const own = memberOf(output, inner.id);
      outputs.set(inner.id, own === undefined ? NOTHING : new StoredJson(writeJson(own)));
    }
    return new StoredJson(writeJson(output));
  }

  async #evaluate(
    text: string,
    scope: Scope,
    { location, memory, notes }: { location: string; memory: StepMemory; notes: Set<string> },
  ): Promise<Json | undefined> {
    const facts = this.#factsAt(location, memory, notes);
    return evaluateIn(scope, await parseCondition(text, facts.organizationId), facts);
  }

  async #isSkipped(
    step: Pick<WorkflowStep, "id" | "uses" | "if">,
    scope: Scope,
    { memory, notes = new Set() }: { memory: StepMemory; notes?: Set<string> },
  ): Promise<boolean> {
    if (step.if === undefined) return false;
    const value = await this.#evaluate(step.if, scope, { location: `${step.id}/if`, memory, notes });
    if (isTrue(value)) return false;
    await this.#noteSkip(step, scope, { by: "if", value, memory });
    return true;
  }

  async #noteSkip(
    step: Pick<WorkflowStep, "id" | "uses" | "if" | "forEach">,
    scope: Scope,
    { by, value, memory }: { by: "if" | "forEach"; value: Json | undefined; memory: StepMemory },
  ): Promise<void> {
    const parsed = await parseCondition(step[by] ?? "", this.#run.facts.organizationId);
    const read = await readPaths(scope, parsed, memory);
    this.#run.journal.skip({
      key: step.id,
      functionName: step.uses ?? "parallel",
      note: createSkipNote(by, parsed.expression, { value, read }),
    });
  }

  async #executeCallStep(step: CallStep, scope: Scope, common: Omit<Act, "notes">): Promise<StoredJson> {
    const act = { ...common, notes: new Set<string>() };
    if (await this.#isSkipped(step, scope, act)) return NOTHING;
    if (step.forEach === undefined) return this.#call(step, { itemIndex: null, ...act }, scope);
    const at = { ...act, location: `${step.id}/forEach` };
    const value = await this.#evaluate(step.forEach, scope, at);
    const items = itemsOf(value);
    if (items.length === 0) await this.#noteSkip(step, scope, { by: "forEach", value, memory: act.memory });
    return this.#executeForEach(step, scope, { items, act });
  }

  /** Throws StepFailure if the call failed or returned too much. */
  async #call(
    step: CallStep,
    { itemIndex, ...act }: Act & Pick<WorkflowCall, "itemIndex">,
    scope: Scope,
  ): Promise<StoredJson> {
    const key = itemIndex === null ? step.id : `${step.id}[${itemIndex}]`;
    // Only the inputs of calls may refer to secrets.
    const { placeholderOf } = this.#run.facts;
    const input = await fillIn(step.with, scope, {
      ...this.#factsAt(key, act.memory, act.notes),
      placeholderOf,
    });
    if (!isJsonObject(input)) throw new StepFailure("invalid_input", "its input is not an object");
    // Parallel calls add to the sum, so it is read after the wait.
    const inputBytes = await largeJsonBytes(input);
    this.#inputBytes += inputBytes;
    if (this.#inputBytes > MAX_STEP_INPUTS_BYTES) {
      this.#inputBytes -= inputBytes;
      throw new StepFailure(
        "input_too_large",
        `the inputs of all calls together are larger than ${formatLimit(MAX_STEP_INPUTS_BYTES)}`,
      );
    }
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
    const output = new StoredJson(result.output);
    if (output.bytes > MAX_STEP_OUTPUT_BYTES)
      throw new StepFailure(
        "output_too_large",
        `its output is larger than ${formatLimit(MAX_STEP_OUTPUT_BYTES)}`,
      );
    return output;
  }

  async #executeForEach(
    step: CallStep,
    scope: Scope,
    { items, act: { act, memory, notes } }: { items: Json[]; act: Act },
  ): Promise<StoredJson> {
    const { items: mostItems } = WORKFLOW_LIMITS;
    if (items.length > mostItems) {
      const message = `forEach has ${items.length} items; at most ${mostItems} are allowed`;
      throw new StepFailure("limit_exceeded", message);
    }
    const outputs = Array.from({ length: items.length }, () => NOTHING);
    let bytes = 0;
    const width = Math.min(step.concurrency ?? 1, items.length);
    const all = { key: step.id, name: `${step.id}: ${items.length} items` };
    const concurrency = { limit: width, fork: this.#run.journal.fork, act: all };
    await runConcurrently(items, concurrency, async (item, index) => {
      const itemScope = { ...scope, values: { ...scope.values, [step.as ?? "item"]: item } };
      const own = memory.openMember();
      const facts = { itemIndex: index, act, width, memory: own, notes: new Set(notes) };
      const call = this.#call(step, facts, itemScope);
      const { output, failure } = await settle(step, call).finally(() => own.release());
      if (failure !== null) throw failure.at(`item ${index}`);
      outputs[index] = output;
      bytes += output.bytes;
      if (bytes > MAX_FINAL_OUTPUT_BYTES)
        throw new StepFailure(
          "output_too_large",
          `its outputs together are larger than ${formatLimit(MAX_FINAL_OUTPUT_BYTES)}`,
        );
    });
    return StoredJson.list(outputs);
  }

  async finish(): Promise<WorkflowOutcome> {
    this.#leavePast(({ until }) => until !== null);
    const memory = this.#run.facts.memory.openStep();
    try {
      const output = await this.#output(memory);
      if (output.bytes > MAX_FINAL_OUTPUT_BYTES) {
        const message = `The output is larger than ${formatLimit(MAX_FINAL_OUTPUT_BYTES)}.`;
        return { status: "Failed", code: "output_too_large", message };
      }
      const { outputSchema } = this.#definition;
      if (outputSchema !== undefined) {
        const value = await output.read(memory);
        const issues = await validateAgainst(outputSchema, value, this.#run.facts.organizationId);
        const message = `The output does not match the output schema: ${describeIssues(issues)}.`;
        if (issues.length > 0) return { status: "Failed", code: "output_invalid", message };
      }
      return { status: "Completed", output: output.text };
    } finally {
      memory.release();
    }
  }

  async #output(memory: StepMemory): Promise<StoredJson> {
    const { steps, output: template } = this.#definition;
    if (template !== undefined) {
      const value = await fillIn(template, this.#scope(), this.#factsAt("output", memory));
      return new StoredJson(await stringifyLarge(value));
    }
    const last = steps.at(-1);
    return (last && this.#outputs.get(last.id)) ?? NOTHING;
  }
}
