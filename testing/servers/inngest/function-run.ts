import { randomUUID } from "node:crypto";
import { canonicalJson, type InngestEvent, type InngestFunction, type Operation } from "./protocol";

/** A queue item: the next call of a run. */
export type Job = {
  id: string;
  step: string;
  attempt: number;
  generation: number;
  ends?: string;
};

/** One request to the service. */
export type Call = { run: FunctionRun; job: Readonly<Job>; url: string; body: string };

export type RunStatus = "Running" | "Completed" | "Failed" | "Cancelled";

/** A function's run: what the server remembers of it. */
export class FunctionRun {
  readonly id = randomUUID();
  readonly fn: InngestFunction;
  readonly event: InngestEvent;
  status: RunStatus = "Running";
  output: unknown;
  error: unknown;
  readonly steps = new Map<string, unknown>();
  readonly stepNames: string[] = [];
  calls = 0;
  readonly jobs = new Map<string, Job>();
  /** After the last parallel step, the function is called again. */
  readonly #pending = new Set<string>();
  #plansSteps = false;
  #version = -1;
  readonly #names = new Map<string, string>();

  constructor(fn: InngestFunction, event: InngestEvent) {
    this.fn = fn;
    this.event = event;
  }

  get maxAttempts(): number {
    return this.fn.steps.step.retries.attempts + 1;
  }

  name(operations: readonly Operation[]): void {
    for (const { id, displayName, name } of operations) this.#names.set(id, displayName ?? name ?? id);
  }

  note(operations: readonly Operation[], version: number): void {
    this.name(operations);
    if (this.#version === -1) this.#version = version;
    if (operations.length < 2) return;
    this.#plansSteps = true;
    if (!operations.some(({ op }) => op === "StepPlanned")) return;
    for (const { id } of operations) this.#pending.add(id);
  }

  /** The first result counts. Returns true if the function can be called again. */
  save(id: string, result: unknown): boolean {
    if (!this.steps.has(id)) {
      this.steps.set(id, result);
      this.stepNames.push(this.#names.get(id) ?? id);
    }
    this.#pending.delete(id);
    if (this.#pending.size > 0) return false;
    this.#plansSteps = false;
    return true;
  }

  urlFor(job: Job): string {
    const url = new URL(this.fn.steps.step.runtime.url);
    url.searchParams.set("stepId", job.step);
    return url.href;
  }

  bodyFor(job: Job): string {
    const stack = [...this.steps.keys()];
    return canonicalJson({
      event: this.event,
      events: [this.event],
      steps: Object.fromEntries(this.steps),
      defers: {},
      version: this.#version,
      use_api: false,
      ctx: {
        fn_id: this.fn.id,
        run_id: this.id,
        env: "",
        step_id: "step",
        attempt: job.attempt,
        max_attempts: this.maxAttempts,
        stack: { stack, current: stack.length },
        qi_id: job.id,
        request_id: `${job.id}:${job.generation}`,
        generation_id: job.generation,
        job_id: job.id,
        disable_immediate_execution: this.#plansSteps,
        use_api: false,
      },
    });
  }
}
