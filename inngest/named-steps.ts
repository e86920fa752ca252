import type { StepName, StepReference } from "@/server/runs/engine/execute/durable-steps";
import { YieldSlot } from "@/server/runs/engine/interruptions";
import type { StepTools } from "./functions";

/** Calls must end before the time limits of proxies; the last model call or tool call may take longer. */
const MAX_CALL_MS = 25_000;
/** A server ends a function of 1,000 steps. A longer run gets a new hand-over, and with it a new function. */
const MAX_STEPS = 900;

/** One call of an Inngest server, from its request to our response. */
export class ServerCall {
  /** Resolves when the SDK has a response before the function returns, because it took a step's result along. */
  readonly over: Promise<void>;
  isOver = false;
  hasLostServer = false;
  /** Never rejects. */
  executing: Promise<unknown> = Promise.resolve();
  #end = () => {};

  constructor() {
    this.over = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** The function releases the run before the server may call again. */
  async end(): Promise<void> {
    this.isOver = true;
    this.#end();
    await this.executing;
  }
}

type SdkTools = {
  run(step: StepName, work: () => Promise<StepReference>): Promise<unknown>;
  sleepUntil(step: StepName, time: Date): Promise<unknown>;
};

/** The step tools of an Inngest server's call: each piece of work is a step on the server's pages. */
export class NamedSteps implements StepTools {
  readonly #tools: SdkTools;
  readonly #call: ServerCall;
  #count: number;
  /** Steps cannot be nested. */
  #isInStep = false;
  #endsAt = Number.POSITIVE_INFINITY;

  constructor(tools: SdkTools, { call, before }: { call: ServerCall; before: number }) {
    this.#tools = tools;
    this.#call = call;
    this.#count = before;
  }

  async run<T>(step: StepName, work: () => Promise<T>, refer: (result: T) => StepReference): Promise<T> {
    if (this.#isInStep) return work();
    this.#isInStep = true;
    this.#count += 1;
    let result: Promise<T> | undefined;
    try {
      const named = this.#tools.run(step, async (): Promise<StepReference> => {
        result = work();
        // The run decides what an error means. To the server, the step is done.
        return result.then(refer, () => ({ status: "Failed", bytes: 0 }));
      });
      await Promise.race([named, this.#call.over]);
      if (result === undefined) throw this.#over();
      return await result;
    } finally {
      this.#isInStep = false;
    }
  }

  checkpoint(hasProgressed: boolean): void {
    if (this.#call.isOver) throw this.#over();
    const now = performance.now();
    // A call has time for at least one step, even if a called run evaluates its finished steps for longer than that.
    if (!hasProgressed) this.#endsAt = now + MAX_CALL_MS;
    if (now >= this.#endsAt) throw callOver();
    if (this.#count >= MAX_STEPS) throw new YieldSlot("the function has enough steps");
  }

  async sleepUntil(step: StepName, time: Date): Promise<void> {
    await Promise.race([this.#tools.sleepUntil(step, time), this.#call.over]);
  }

  /** A server that took the last steps calls again; otherwise a new hand-over is needed. */
  #over(): YieldSlot {
    return this.#call.hasLostServer ? new YieldSlot("the server does not answer") : callOver();
  }
}

const callOver = () => new YieldSlot("the call is over", { isCallOver: true });
