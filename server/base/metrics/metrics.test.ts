import { expect, test } from "vitest";
import { createMetrics } from "./metrics";

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}-${n}`);
const operators = { isOwn: false };

function labelsOf({ models }: ReturnType<typeof createMetrics>): string[] {
  return [...new Set(models.calls.children().map(({ values: [model = ""] }) => model))];
}

test("a model that the operator does not know is no label", () => {
  const metrics = createMetrics({ models: ["gpt-5"], functions: [] });
  for (const name of names("acme", 1_000)) metrics.models.of(name, operators).completed.value += 1;
  metrics.models.of("gpt-5", operators).completed.value += 1;
  metrics.models.of("gpt-5", { isOwn: true }).completed.value += 1;
  expect(labelsOf(metrics).sort()).toEqual(["gpt-5", "other", "own"]);
  const counted = metrics.models.calls.children().map(({ values, figure }) => [...values, figure.value]);
  expect(counted).toContainEqual(["other", "completed", 1_000]);
  expect(counted).toContainEqual(["own", "completed", 1]);
});

test("there are at most a hundred models", () => {
  const known = names("model", 500);
  const metrics = createMetrics({ models: known, functions: [] });
  for (const name of known) metrics.models.of(name, operators).completed.value += 1;
  expect(labelsOf(metrics).length).toBeLessThanOrEqual(101);
  const total = metrics.models.calls.children().reduce((sum, { figure }) => sum + figure.value, 0);
  expect(total).toBe(500);
});

test("a figure is found without a new one", () => {
  const metrics = createMetrics({ models: ["gpt-5"], functions: ["calculate"] });
  expect(metrics.models.of("gpt-5", operators)).toBe(metrics.models.of("gpt-5", operators));
  expect(metrics.runsEnded.of("agent", "Failed", "api")).toBe(metrics.runsEnded.of("agent", "Failed", "api"));
});

test("a step of a tool counts as other", () => {
  const metrics = createMetrics({ models: [], functions: ["calculate"] });
  metrics.observeStep("calculate", 2);
  metrics.observeStep("acme-payroll", 400);
  const counts = metrics.steps.children().map(({ values, figure }) => [...values, figure.sum, figure.counts]);
  expect(counts).toEqual([
    ["calculate", 0.002, [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
    ["other", 0.4, [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]],
  ]);
});

test("an observation at a bound belongs to its bucket, a larger one than all to the last", () => {
  const { flushItems } = createMetrics({ models: [], functions: [] });
  const histogram = flushItems.of("journal");
  for (const items of [1, 2, 512, 513]) histogram.observe(items);
  expect([histogram.counts[0], histogram.counts[1], histogram.counts[9], histogram.counts[10]]).toEqual([
    1, 1, 1, 1,
  ]);
});
