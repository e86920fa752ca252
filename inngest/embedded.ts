import { Inngest, type InngestFunction } from "inngest";
import { StepMode } from "inngest/types";
import type { Admitted } from "@/server/runs/engine/claim";
import type { Driver } from "@/server/runs/engine/dispatcher";
import type { RunEngine } from "@/server/runs/engine/engine";
import { createRunFunctions, RUN_EVENTS } from "./functions";

/**
 * The embedded engine: executes the durable functions in this process through the SDK's execution engine, like
 * Inngest's own test package. That entry is typed as protected, so the SDK's version is pinned and embedded.db.test.ts
 * guards it. Queue and step memory are the run's own rows.
 */
export function createEmbeddedDriver(engine: Pick<RunEngine, "executeSegment">): Driver {
  switchAsyncContextOff();
  const client = new Inngest({
    id: "stepwell",
    isDev: true,
    baseUrl: "http://engine.invalid",
    fetch: async () => new Response("{}"),
  });
  // The SDK returns a thrown error as plain data; the engine needs its class and code.
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
 * Calls a function once and stops after its first step, the run's segment. A segment after a yield is another call.
 * Throws what the step threw.
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
 * Replaces AsyncLocalStorage by the SDK's stand-in for runtimes without one. Nothing here needs its context, and up to
 * Node 22 an active storage slows down every promise.
 */
function switchAsyncContextOff(): void {
  const storage = { getStore: () => undefined, run: (_context: unknown, work: () => unknown) => work() };
  const known = { resolved: storage, promise: Promise.resolve(storage), isFallback: true };
  Reflect.set(globalThis, Symbol.for("inngest:als"), known);
}
