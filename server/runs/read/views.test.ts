import { expect, test } from "vitest";
import { ZERO } from "@/server/base/amount";
import { ProcessMemory } from "@/server/guard/limits/process-memory";
import type { RunFacts } from "@/server/runs/run-facts";
import { toolRunResult } from "./views";

const memory = new ProcessMemory().openRun("org-1").openStep();
const at = new Date("2026-11-21T01:22:07.000Z");
const RUN: RunFacts = {
  id: "019aa5d1-b7e8-7a36-8c4d-52d0f8b3c614",
  agentId: null,
  toolId: "019aa5c0-0b1d-7f52-a3e9-6c8d2e4f7a15",
  targetName: "Stock",
  configurationHash: "00",
  status: "Completed",
  input: "{}",
  output: null,
  errorMessage: null,
  cancelledBy: null,
  stepsExecuted: 1,
  inputTokens: 0,
  outputTokens: 0,
  actionsUsed: 1,
  creditsUsed: ZERO,
  createdAt: at,
  startedAt: at,
  finishedAt: at,
};
const definition = { parameters: {}, steps: [{ id: "a", uses: "current_time" }] };
const CONFIGURATION = JSON.stringify({ kind: "tool", name: "Stock", definition });

test("the schema of a large output is inferred in turns with other work", async () => {
  let turns = 0;
  let counting = true;
  const count = () => {
    turns += 1;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  const output = `[${"{},".repeat(1_000_000)}{}]`;
  const result = await toolRunResult({ ...RUN, output }, CONFIGURATION, { now: at, memory });
  counting = false;
  expect(JSON.parse(result.outputSchema)).toEqual({
    type: "array",
    items: { type: "object", properties: {}, required: [] },
  });
  // Parsing it in one go takes a tenth of a second.
  expect(turns).toBeGreaterThan(3);
});
