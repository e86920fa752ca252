import type { z } from "zod";
import { type Call, FunctionRun, type Job, type RunStatus } from "./function-run";
import {
  type checkpoint,
  durationOf,
  type InngestEvent,
  type InngestFunction,
  matches,
  type Operation,
  operations,
  retryAfterOf,
  sign,
} from "./protocol";

export type Answer = { status: number; headers: Headers; body: string };

/**
 * Carries a call to the service. A test loses the call if it throws before `send`, loses the response if it throws
 * afterwards, and repeats the call if it sends twice.
 */
export type Carry = (call: Call, send: () => Promise<Answer>) => Promise<Answer>;

type Wait = { run: FunctionRun; id: string; eventName: string; expression: string | undefined };
type Options = {
  signingKey: string | undefined;
  retryMs: number;
  onEvent(event: InngestEvent): void;
};

/** With this many steps, a run fails at the next call. */
const MAX_STEPS = 1_000;
const TOO_MANY_STEPS = {
  name: "InngestErrFunctionOverflowed",
  message: `The function run exceeded the step limit of ${MAX_STEPS} steps.`,
};
const UNREACHABLE = { name: "Error", message: "Unable to reach SDK URL" };
/** From this age on, a call's checkpoints are rejected if the job was called again. */
const CONTESTED_AFTER_MS = 10_000;

/** Calls functions and follows their responses, like Inngest 1.43. */
export class Executor {
  readonly runs: FunctionRun[] = [];
  carry: Carry = (_call, send) => send();
  readonly #options: Options;
  readonly #waits = new Set<Wait>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #closing = new AbortController();

  constructor(options: Options) {
    this.#options = options;
  }

  start(fn: InngestFunction, event: InngestEvent): void {
    const run = new FunctionRun(fn, event);
    this.runs.push(run);
    this.#enqueue(run, { id: `${run.id}-start` });
  }

  get awaited(): string[] {
    return [...this.#waits].map(({ eventName }) => eventName);
  }

  match(event: InngestEvent): void {
    for (const run of this.runs) {
      const cancels = run.fn.cancel.some(
        (cancel) => cancel.event === event.name && matches(cancel.if, { event: run.event, async: event }),
      );
      if (cancels) this.cancel(run);
    }
    for (const wait of this.#waits) {
      const { run, id, eventName, expression } = wait;
      if (eventName !== event.name || !matches(expression, { event: run.event, async: event })) continue;
      this.#waits.delete(wait);
      this.#save(run, id, { data: event });
    }
  }

  /** The call in progress continues, and its response is ignored. */
  cancel(run: FunctionRun): void {
    this.#end(run, "Cancelled", {});
  }

  saveCheckpoint(runId: string, { qi_id, generation_id, steps }: z.output<typeof checkpoint>, age: number) {
    const run = this.runs.find(({ id }) => id === runId);
    if (run?.status !== "Running") return 400;
    const job = run.jobs.get(qi_id);
    if (age >= CONTESTED_AFTER_MS && job?.generation !== generation_id) return 409;
    if (!steps.every(({ op }) => op === "StepRun" || op === "StepPlanned")) return 400;
    run.name(steps);
    for (const { op, id, data } of steps) if (op === "StepRun") run.save(id, { data });
    if (job) job.attempt = 0;
    return 200;
  }

  close(): void {
    this.#closing.abort(new Error("The Inngest server closes."));
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #enqueue(run: FunctionRun, job: Pick<Job, "id"> & Partial<Job>, delayMs = 0): void {
    // A job's id makes it unique, so that a step that finishes twice continues its run once.
    if (run.jobs.has(job.id)) return;
    const queued = { step: "step", attempt: 0, generation: 0, ...job };
    run.jobs.set(job.id, queued);
    this.#schedule(run, queued, delayMs);
  }

  #schedule(run: FunctionRun, job: Job, delayMs: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      // Vitest reports a rejection: what this stand-in does not know fails the tests.
      void this.#execute(run, job);
    }, delayMs);
    this.#timers.add(timer);
  }

  async #execute(run: FunctionRun, job: Job): Promise<void> {
    if (run.status !== "Running") return;
    if (job.ends !== undefined && job.generation === 0 && !this.#endSleep(run, job.ends)) return;
    if (run.steps.size >= MAX_STEPS) {
      this.#end(run, "Failed", { error: TOO_MANY_STEPS });
      return;
    }
    job.generation += 1;
    run.calls += 1;
    const call: Call = { run, job: { ...job }, url: run.urlFor(job), body: run.bodyFor(job) };
    const answer = await this.carry(call, () => this.#send(call)).catch(() => null);
    if (run.status !== "Running" || this.#closing.signal.aborted) return;
    if (answer === null) this.#retry(run, job, { error: UNREACHABLE });
    else this.#follow(run, job, answer);
  }

  async #send({ run, job, url, body }: Call): Promise<Answer> {
    const { signingKey } = this.#options;
    const response = await fetch(url, {
      method: "POST",
      body,
      headers: {
        "Content-Type": "application/json",
        "X-Run-ID": run.id,
        "X-Request-ID": `${job.id}:${job.generation}`,
        "X-Inngest-Generation-ID": String(job.generation),
        "X-Inngest-Job-ID": job.id,
        "X-Inngest-Step-ID": job.step,
        ...(signingKey === undefined ? {} : { "X-Inngest-Signature": sign(body, signingKey) }),
      },
      signal: this.#closing.signal,
    });
    return { status: response.status, headers: response.headers, body: await response.text() };
  }

  #follow(run: FunctionRun, job: Job, { status, headers, body }: Answer): void {
    if (!headers.has("x-inngest-sdk")) {
      this.#retry(run, job, { error: { name: "Error", message: `No answer of an SDK: ${status} ${body}` } });
      return;
    }
    const result: unknown = JSON.parse(body);
    const retryAfterMs = retryAfterOf(headers.get("retry-after"));
    const isFinal = headers.get("x-inngest-no-retry") === "true" || job.attempt + 1 >= run.maxAttempts;
    if (status === 200) this.#end(run, "Completed", { output: result });
    else if (status !== 206 && isFinal) this.#end(run, "Failed", { error: result });
    else if (status !== 206) this.#retry(run, job, { error: result, retryAfterMs });
    else {
      const found = operations.parse(result);
      run.note(found, Number(headers.get("x-inngest-req-version")));
      if (found.every(({ op, id }) => op === "None" && id === "")) this.#discover(run, `none-${job.id}`);
      for (const operation of found) {
        if (operation.op === "StepError" && !isFinal)
          this.#retry(run, job, { error: operation.error, retryAfterMs });
        else this.#apply(run, operation);
      }
    }
  }

  #apply(run: FunctionRun, { op, id, ...operation }: Operation): void {
    const jobId = `${run.id}-${id}`;
    switch (op) {
      case "None":
        break;
      case "StepRun":
        this.#save(run, id, { data: operation.data });
        break;
      case "StepError":
      case "StepFailed":
        this.#save(run, id, { error: operation.error });
        break;
      case "StepPlanned":
        this.#enqueue(run, { id: `${jobId}-plan`, step: id });
        break;
      case "Sleep":
        this.#enqueue(run, { id: jobId, ends: id }, durationOf(operation.name ?? ""));
        break;
      case "WaitForEvent":
        this.#waits.add({ run, id, eventName: operation.name ?? "", expression: operation.opts?.if });
        this.#enqueue(run, { id: jobId, ends: id }, durationOf(operation.opts?.timeout ?? ""));
        break;
      case "DiscoveryRequest":
        this.#discover(run, id);
        break;
      case "RunComplete":
        this.#end(run, "Completed", { output: operation.data });
        break;
      default:
        throw new Error(`The stand-in does not know the operation ${op}`);
    }
  }

  /** False if the wait's event came first, or parallel steps are not finished. */
  #endSleep(run: FunctionRun, id: string): boolean {
    for (const wait of this.#waits) if (wait.run === run && wait.id === id) this.#waits.delete(wait);
    return !run.steps.has(id) && run.save(id, null);
  }

  #save(run: FunctionRun, id: string, result: unknown): void {
    if (run.save(id, result)) this.#discover(run, id);
  }

  #discover(run: FunctionRun, after: string): void {
    this.#enqueue(run, { id: `${run.id}-${after}-next` });
  }

  #retry(
    run: FunctionRun,
    job: Job,
    { error, retryAfterMs }: { error: unknown; retryAfterMs?: number | undefined },
  ) {
    job.attempt += 1;
    if (job.attempt >= run.maxAttempts) this.#end(run, "Failed", { error });
    else this.#schedule(run, job, retryAfterMs ?? this.#options.retryMs);
  }

  #end(run: FunctionRun, status: RunStatus, result: { output?: unknown; error?: unknown }): void {
    if (run.status !== "Running") return;
    Object.assign(run, { status, ...result });
    for (const wait of this.#waits) if (wait.run === run) this.#waits.delete(wait);
    const data = { function_id: run.fn.id, run_id: run.id, event: run.event, ...result };
    for (const name of ["finished", ...(status === "Completed" ? [] : [status.toLowerCase()])])
      this.#options.onEvent({ id: `${run.id}-${name}`, name: `inngest/function.${name}`, data });
  }
}
