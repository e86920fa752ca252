import type { Caller, CallOptions } from "./call.js";
import { RunFailedError } from "./errors.js";
import type { RunEvent, TreeEvent } from "./events.js";
import type { FollowOptions, FollowTreeOptions } from "./follow.js";
import { pauseMs, sleep } from "./retry.js";
import type { Answer, Schemas } from "./types.js";

/** The longest wait that the service takes, in seconds. */
const LONGEST_WAIT = 30;
/** An answer before this time says that the process stops; the next one may not be ready. */
const SHORT_WAIT_MS = 1_000;

export type WaitOptions = { signal?: AbortSignal };

type Ended = { id: string; status: string; errorMessage: string | null };

/** A run that was started. */
abstract class Run<Status extends Ended> {
  readonly id: string;
  protected readonly caller: Caller;

  constructor(caller: Caller, id: string) {
    this.caller = caller;
    this.id = id;
  }

  /** The state of the run. `wait`: seconds, at most 30, to wait for its end. */
  abstract status(options?: CallOptions & { wait?: number }): Promise<Status>;

  protected abstract readonly eventsPath: string;

  /** Waits until the run has completed, failed or was cancelled, and returns its status. */
  async wait({ signal }: WaitOptions = {}): Promise<Status> {
    for (;;) {
      const asked = Date.now();
      const status = await this.status({ wait: LONGEST_WAIT, ...(signal && { signal }) });
      if (status.status !== "Pending" && status.status !== "Running") return status;
      if (Date.now() - asked < SHORT_WAIT_MS) await sleep(pauseMs(1, null), signal);
    }
  }

  /**
   * The events of the run until its end. They continue by themselves after a lost connection. With `children`, also those
   * of the runs that it calls.
   */
  events(options: FollowTreeOptions): AsyncGenerator<TreeEvent, void, undefined>;
  events(options?: FollowOptions): AsyncGenerator<RunEvent<Status>, void, undefined>;
  events(options: FollowOptions | FollowTreeOptions = {}) {
    return options.children === true
      ? this.caller.followTree(this.eventsPath, options)
      : this.caller.follow<Status>(this.eventsPath, options);
  }
}

/** A run of an agent. */
export class AgentRun extends Run<Schemas["AgentRun"]> {
  protected get eventsPath() {
    return `/v1/agents/run/${encodeURIComponent(this.id)}/events`;
  }

  status({ wait, ...options }: CallOptions & { wait?: number } = {}): Promise<Schemas["AgentRun"]> {
    const query = wait === undefined ? {} : { wait };
    return this.caller.call("getAgentRunStatus", { path: { agentRunId: this.id }, query }, options);
  }

  /** The status with the finished steps. */
  details(options?: CallOptions): Promise<Schemas["AgentRunDetails"]> {
    return this.caller.call("getAgentRunDetails", { path: { agentRunId: this.id } }, options);
  }

  /** Waits for the answer. Throws `RunFailedError` if the run fails or is cancelled. */
  async output(options?: WaitOptions): Promise<string> {
    const run = await this.wait(options);
    if (run.status !== "Completed") throw new RunFailedError(run);
    return run.finalOutput ?? "";
  }

  /** Does nothing if the run has ended. */
  cancel(options?: CallOptions): Promise<Answer<"cancelAgentRun">> {
    return this.caller.call("cancelAgentRun", { path: { agentRunId: this.id } }, options);
  }
}

/** A run of a tool. */
export class ToolRun extends Run<Schemas["ToolRun"]> {
  protected get eventsPath() {
    return `/v1/tools/run/${encodeURIComponent(this.id)}/events`;
  }

  status({ wait, ...options }: CallOptions & { wait?: number } = {}): Promise<Schemas["ToolRun"]> {
    const query = wait === undefined ? {} : { wait };
    return this.caller.call("getToolRunStatus", { path: { toolRunId: this.id }, query }, options);
  }

  /** Input, output and output schema, each as JSON text. */
  result(options?: CallOptions): Promise<Schemas["ToolRunResult"]> {
    return this.caller.call("getToolRunResult", { path: { toolRunId: this.id } }, options);
  }

  /**
   * Waits for the output and parses it, with the precision of JavaScript's numbers. Throws `RunFailedError` if the run
   * fails or is cancelled.
   */
  async output(options: WaitOptions = {}): Promise<unknown> {
    const run = await this.wait(options);
    if (run.status !== "Completed") throw new RunFailedError(run);
    return JSON.parse((await this.result(options)).outputData);
  }

  /** Does nothing if the run has ended. */
  cancel(options?: CallOptions): Promise<Answer<"cancelToolRun">> {
    return this.caller.call("cancelToolRun", { path: { toolRunId: this.id } }, options);
  }
}

/** A start that is on its way. `await` it for the run, or ask it for the run's end at once. */
export class Start<Started extends AgentRun | ToolRun> implements PromiseLike<Started> {
  readonly #run: Promise<Started>;

  constructor(run: Promise<Started>) {
    this.#run = run;
  }

  // biome-ignore lint/suspicious/noThenProperty: `await` on a start gives its run.
  get then(): Promise<Started>["then"] {
    return this.#run.then.bind(this.#run);
  }

  async wait(options?: WaitOptions): Promise<Awaited<ReturnType<Started["wait"]>>>;
  async wait(options?: WaitOptions): Promise<unknown> {
    return (await this.#run).wait(options);
  }

  async output(options?: WaitOptions): Promise<Awaited<ReturnType<Started["output"]>>>;
  async output(options?: WaitOptions): Promise<unknown> {
    return (await this.#run).output(options);
  }

  events(options: FollowTreeOptions): AsyncGenerator<TreeEvent, void, undefined>;
  events(options?: FollowOptions): ReturnType<Started["events"]>;
  async *events(options?: FollowOptions | FollowTreeOptions): AsyncGenerator<unknown, void, undefined> {
    const run = await this.#run;
    yield* options?.children === true ? run.events(options) : run.events(options);
  }
}
