import { Inngest, type InngestFunction } from "inngest";
import { StepMode } from "inngest/types";
import type { Admitted } from "@/server/runs/engine/claim";
import type { Driver, RunEngine } from "@/server/runs/engine/engine";
import { createRunFunctions, RUN_EVENTS } from "./functions";

/**
 * The embedded engine: executes the durable functions in this process through the SDK's execution engine, the entry that
 * Inngest's own test package uses. It is typed as protected, so the SDK's version is pinned and embedded.db.test.ts guards it.
 * There is no queue and no step memory here: the run's own rows are both.
 */
export function createEmbeddedDriver(engine: Pick<RunEngine, "executeSegment">): Driver {
  switchAsyncContextOff();
  const client = new Inngest({
    id: "stepwell",
    isDev: true,
    baseUrl: "http://engine.invalid",
    fetch: async () => new Response("{}"),
  });
  // The SDK hands out what a step threw as plain data; the engine tells faults by their class and code.
  const thrown = new Map<string, unknown>();
  const functions = createRunFunctions(client, async (runId) => {
    try {
      return await engine.executeSegment(runId);
    } catch (error) {
      thrown.set(runId, error);
      throw error;
    }
  });
  return {
    kind: "embedded",
    async execute(run) {
      try {
        await executeStep(client, functions[run.kind], run);
      } catch (error) {
        throw thrown.get(run.id) ?? error;
      } finally {
        thrown.delete(run.id);
      }
    },
  };
}

/**
 * Calls a function once. It runs its first step, the run's segment, and stops there: what comes after a yield is another
 * call. Throws what the step threw.
 */
async function executeStep(client: Inngest.Any, fn: InngestFunction.Any, run: Admitted): Promise<void> {
  const event = {
    id: run.id,
    name: RUN_EVENTS[run.kind],
    data: { runId: run.id, segment: run.segment },
    ts: Date.now(),
  };
  // biome-ignore lint/complexity/useLiteralKeys: a protected member can only be reached so.
  const execution = fn["createExecution"]({
    partialOptions: {
      client,
      data: { runId: run.id, event, events: [event], attempt: 0, maxAttempts: 1 },
      runId: run.id,
      internalFnId: fn.id(),
      queueItemId: run.id,
      stepState: {},
      priorDefers: {},
      disableImmediateExecution: false,
      stepCompletionOrder: [],
      reqArgs: [],
      headers: {},
      stepMode: StepMode.Async,
      middlewareInstances: [],
    },
  });
  const result = await execution.start();
  if (result.type === "step-ran") {
    if (result.step.error !== undefined) throw toError(result.step.error);
    return;
  }
  if (result.type === "function-rejected") throw toError(result.error);
  if (result.type !== "function-resolved") throw new Error(`the segment ended as ${result.type}`);
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(JSON.stringify(error));
}

/**
 * Gives the SDK the stand-in for AsyncLocalStorage that it has for runtimes without one. Nothing here asks for its context, and
 * up to Node 22 a storage that is in use makes every promise of the process slower: a run costs 8 % less CPU without.
 */
function switchAsyncContextOff(): void {
  const storage = { getStore: () => undefined, run: (_context: unknown, work: () => unknown) => work() };
  const known = { resolved: storage, promise: Promise.resolve(storage), isFallback: true };
  Reflect.set(globalThis, Symbol.for("inngest:als"), known);
}
