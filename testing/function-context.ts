import { ProcessMemory } from "@/server/guard/limits/process-memory";
import type { FunctionContext } from "@/server/work/functions/core/define";
import { testClock } from "./clock";

/** A function context for tests: no network, no model, a fixed clock; override what the test needs. */
export function testFunctionContext(overrides: Partial<FunctionContext> = {}): FunctionContext {
  return {
    signal: new AbortController().signal,
    clock: testClock("2026-03-04T05:06:07.000Z"),
    fetch: async () => {
      throw new Error("This test allows no network.");
    },
    redact: async (value) => value,
    idempotencyKey: "step-1",
    traceParent: null,
    organizationId: "org-1",
    memory: new ProcessMemory().openRun("org-1").openStep(),
    callModel: async () => {
      throw new Error("This test allows no model.");
    },
    defaultModel: "test-model",
    values: {
      get: async () => null,
      set: async () => {
        throw new Error("This test stores no values.");
      },
    },
    sendMail: null,
    print: () => {},
    note: () => {},
    ...overrides,
  };
}
