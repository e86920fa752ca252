import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "@/server/json";
import { workflowDefinition } from "@/server/workflow/definition";
import {
  type RunFacts,
  runWorkflow,
  type WorkflowCall,
  type WorkflowCallResult,
} from "@/server/workflow/interpret";

const facts: RunFacts = {
  id: "r-1",
  organizationId: "org-1",
  startedAt: new Date("2026-03-04T05:06:07.000Z"),
  toolName: "Weather",
  signal: new AbortController().signal,
};

/** A journal that answers each call from `answer` and records the batches. */
function journalOf(answer: (call: WorkflowCall) => WorkflowCallResult) {
  const batches: WorkflowCall[][] = [];
  return {
    batches,
    calls: () => batches.flat(),
    async call(batch: WorkflowCall[]) {
      batches.push(batch);
      return batch.map(answer);
    },
  };
}

const ok = (output: Json): WorkflowCallResult => ({ ok: true, output });
const echo = journalOf.bind(null, (call) => ok(call.input));

async function run(definition: JsonObject, input: JsonObject = {}, journal = echo()) {
  const outcome = await runWorkflow(workflowDefinition.parse(definition), input, facts, journal);
  return { outcome, journal };
}

test("passes outputs on and returns the output with its schema", async () => {
  const journal = journalOf((call) =>
    call.functionName === "http_request" ? ok({ body: { t: 7 } }) : ok(call.input.value ?? null),
  );
  const { outcome } = await run(
    {
      steps: [
        {
          id: "fetch",
          uses: "http_request",
          with: { url: "https://w.test?q={{ input.city }}" },
          retries: 2,
          timeoutMs: 500,
        },
        { id: "brief", uses: "transform_json", with: { value: "{{ steps.fetch.body.t }}", expression: "$" } },
      ],
      output: {
        tempC: "{{ steps.brief }}",
        text: "{{ steps.brief }}° in {{ input.city }}, {{ run.id }} {{ run.tool }}",
      },
    },
    { city: "Oslo" },
    journal,
  );
  expect(outcome).toEqual({
    status: "Completed",
    output: { tempC: 7, text: "7° in Oslo, r-1 Weather" },
    outputSchema: {
      type: "object",
      properties: { tempC: { type: "integer" }, text: { type: "string" } },
      required: ["tempC", "text"],
    },
  });
  expect(journal.calls()[0]).toEqual({
    key: "fetch",
    stepId: "fetch",
    itemIndex: null,
    functionName: "http_request",
    input: { url: "https://w.test?q=Oslo" },
    retries: 2,
    timeoutMs: 500,
  });
});

test("without an output expression the last step's output is the run's", async () => {
  const { outcome } = await run({ steps: [{ id: "a", uses: "f", with: { x: 1 } }] });
  expect(outcome).toMatchObject({ status: "Completed", output: { x: 1 } });
});

describe("if", () => {
  test("a false condition skips the step, whose output is null", async () => {
    const { outcome, journal } = await run(
      {
        steps: [
          { id: "a", uses: "f", if: "input.go", with: {} },
          { id: "b", uses: "f", if: "{{ steps.a = null }}", with: { a: "{{ steps.a.x }}" } },
        ],
      },
      { go: false },
    );
    expect(journal.calls().map((call) => call.key)).toEqual(["b"]);
    expect(outcome).toMatchObject({ output: { a: null } });
  });
});

describe("forEach", () => {
  const definition = {
    steps: [
      {
        id: "a",
        uses: "f",
        forEach: "{{ input.list }}",
        as: "word",
        concurrency: 2,
        with: { w: "{{ word }}" },
      },
    ],
  };

  test("calls in batches and keeps the order", async () => {
    const { outcome, journal } = await run(definition, { list: ["x", "y", "z"] });
    expect(journal.batches.map((batch) => batch.map((call) => call.key))).toEqual([
      ["a[0]", "a[1]"],
      ["a[2]"],
    ]);
    expect(outcome).toMatchObject({ output: [{ w: "x" }, { w: "y" }, { w: "z" }] });
  });

  test.each<[Json, number]>([
    [[], 0],
    [null, 0],
    [["x"], 1],
    ["x", 1],
    [[["x", "y"]], 1],
  ])("over %j makes %i calls", async (list, count) => {
    const { journal, outcome } = await run(definition, { list });
    expect(journal.calls()).toHaveLength(count);
    expect(outcome.status).toBe("Completed");
  });

  test("stops after the batch with the first failure", async () => {
    const journal = journalOf((call) => (call.itemIndex === 0 ? { ok: false, message: "no" } : ok(1)));
    const { outcome } = await run(definition, { list: ["x", "y", "z"] }, journal);
    expect(outcome).toEqual({
      status: "Failed",
      code: "step_failed",
      message: 'Step "a" failed: item 0: no',
    });
    expect(journal.batches).toHaveLength(1);
  });

  test("with onError: continue a failing item is its error", async () => {
    const journal = journalOf((call) => (call.itemIndex === 1 ? { ok: false, message: "no" } : ok(1)));
    const [step] = definition.steps;
    const { outcome } = await run(
      { steps: [{ ...step, onError: "continue" }] },
      { list: ["x", "y", "z"] },
      journal,
    );
    expect(outcome).toMatchObject({ output: [1, { error: "no" }, 1] });
  });

  test("more than 1000 items fail the step", async () => {
    const { outcome, journal } = await run(definition, { list: Array(1001).fill(1) });
    expect(outcome).toMatchObject({ status: "Failed", message: expect.stringContaining("1001 items") });
    expect(journal.calls()).toHaveLength(0);
  });

  test("outputs that are too large together fail the step", async () => {
    const journal = journalOf(() => ok("x".repeat(1_000_000)));
    const { outcome } = await run(definition, { list: [1, 2, 3, 4, 5, 6, 7, 8] }, journal);
    expect(outcome).toMatchObject({
      status: "Failed",
      message: expect.stringContaining("larger than 4 MiB"),
    });
    expect(journal.calls().length).toBeLessThan(8);
  });
});

describe("failures", () => {
  const failing = () =>
    journalOf((call) => (call.stepId === "a" ? { ok: false, message: "boom" } : ok(call.input)));

  test("fail the run and name the step", async () => {
    const { outcome, journal } = await run(
      {
        steps: [
          { id: "a", uses: "f" },
          { id: "b", uses: "f" },
        ],
      },
      {},
      failing(),
    );
    expect(outcome).toEqual({ status: "Failed", code: "step_failed", message: 'Step "a" failed: boom' });
    expect(journal.calls()).toHaveLength(1);
  });

  test("with onError: continue become the step's output", async () => {
    const { outcome } = await run(
      {
        steps: [
          { id: "a", uses: "f", onError: "continue" },
          { id: "b", uses: "f", with: { why: "{{ steps.a.error }}" } },
        ],
      },
      {},
      failing(),
    );
    expect(outcome).toMatchObject({ output: { why: "boom" } });
  });

  test("an error in an expression fails its step, or is tolerated like any other", async () => {
    const bad = { id: "a", uses: "f", with: { x: "{{ 1 + 'a' }}" } };
    const failed = await run({ steps: [bad] });
    expect(failed.outcome).toMatchObject({
      status: "Failed",
      message: expect.stringMatching(/^Step "a" failed: .*number/),
    });
    expect(failed.journal.calls()).toHaveLength(0);
    const passed = await run({
      steps: [
        { ...bad, onError: "continue" },
        { id: "b", uses: "f", with: { y: 1 } },
      ],
    });
    expect(passed.outcome).toMatchObject({ status: "Completed", output: { y: 1 } });
  });

  test("a run that must end evaluates nothing more", async () => {
    const ending = new AbortController();
    const journal = journalOf(() => {
      ending.abort(new Error("cancelled"));
      return ok(1);
    });
    const steps = [
      { id: "a", uses: "f" },
      { id: "b", uses: "f", with: { x: "{{ steps.a }}" } },
    ];
    const definition = workflowDefinition.parse({ steps });
    const ended = runWorkflow(definition, {}, { ...facts, signal: ending.signal }, journal);
    await expect(ended).rejects.toThrow("cancelled");
    expect(journal.calls()).toHaveLength(1);
  });

  test("an output over 1 MiB fails the step", async () => {
    const journal = journalOf(() => ok("x".repeat(1024 * 1024)));
    const { outcome } = await run({ steps: [{ id: "a", uses: "f" }] }, {}, journal);
    expect(outcome).toEqual({
      status: "Failed",
      code: "step_failed",
      message: 'Step "a" failed: its output is larger than 1 MiB',
    });
  });

  test("outputs over 16 MiB together fail the run", async () => {
    const text = "x".repeat(1024 * 1024 - 2);
    const steps = Array.from({ length: 20 }, (_, index) => ({ id: `s${index}`, uses: "f" }));
    const journal = journalOf(() => ok(text));
    const { outcome } = await run({ steps }, {}, journal);
    expect(outcome).toEqual({
      status: "Failed",
      code: "step_failed",
      message: 'Step "s16" failed: the outputs of all steps together are larger than 16 MiB',
    });
  });

  test("an output that does not match its schema fails the run", async () => {
    const { outcome } = await run({
      steps: [{ id: "a", uses: "f", with: { t: "x" } }],
      outputSchema: { type: "object", properties: { t: { type: "number" } } },
    });
    expect(outcome).toEqual({
      status: "Failed",
      code: "output_invalid",
      message: "The output does not match the output schema: /t must be number.",
    });
  });

  test("a fault in the output expression fails the run", async () => {
    const { outcome } = await run({ steps: [{ id: "a", uses: "f" }], output: "{{ $error('nope') }}" });
    expect(outcome).toMatchObject({
      status: "Failed",
      code: "output_failed",
      message: expect.stringContaining("The output could not be evaluated: nope"),
    });
  });

  test("an error of the journal is not an error of the run", async () => {
    const journal = journalOf(() => {
      throw new Error("the database is gone");
    });
    await expect(run({ steps: [{ id: "a", uses: "f", onError: "continue" }] }, {}, journal)).rejects.toThrow(
      "database",
    );
  });
});

test("a run replayed from its journal makes the same calls and ends the same, wherever it was interrupted", async () => {
  const stepOf = (index: number) =>
    fc.record(
      {
        id: fc.constant(`s${index}`),
        uses: fc.constantFrom("f", "g"),
        with: fc.record({
          a: fc.constantFrom(
            "{{ input.list }}",
            "{{ $random() }}",
            "{{ $now() }}",
            "x {{ steps.s0 }} y",
            "{{ $shuffle([1..9]) }}",
          ),
        }),
        if: fc.constantFrom("true", "{{ input.flag }}", "{{ $random() > 0.5 }}"),
        forEach: fc.constantFrom("{{ input.list }}", "{{ [1..3] }}"),
        concurrency: fc.integer({ min: 1, max: 3 }),
        onError: fc.constantFrom("fail" as const, "continue" as const),
      },
      { requiredKeys: ["id", "uses", "with"] },
    );
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(stepOf(0), stepOf(1), stepOf(2)),
      fc.array(fc.integer(), { maxLength: 4 }),
      fc.boolean(),
      fc.integer({ min: 0, max: 6 }),
      fc.integer({ min: 0, max: 5 }),
      async (steps, list, flag, cutAt, failEvery) => {
        const stored = new Map<string, WorkflowCallResult>();
        const executed: string[] = [];
        const durable = (crashAfter: number) => ({
          async call(batch: WorkflowCall[]) {
            const results: WorkflowCallResult[] = [];
            for (const call of batch) {
              const known = stored.get(call.key);
              if (known === undefined && executed.length >= crashAfter) throw new Error("crash");
              const result: WorkflowCallResult =
                known ??
                (failEvery > 0 && executed.length % failEvery === 2
                  ? { ok: false, message: "no" }
                  : ok(call.input));
              if (known === undefined) executed.push(`${call.key} ${JSON.stringify(call.input)}`);
              stored.set(call.key, result);
              results.push(result);
            }
            return results;
          },
        });
        const go = (crashAfter: number) =>
          runWorkflow(workflowDefinition.parse({ steps }), { list, flag }, facts, durable(crashAfter));
        await go(cutAt).catch((error) => expect(error.message).toBe("crash"));
        const resumed = await go(Number.POSITIVE_INFINITY);
        const interrupted = [...executed];
        stored.clear();
        executed.length = 0;
        expect(await go(Number.POSITIVE_INFINITY)).toEqual(resumed);
        expect(executed).toEqual(interrupted);
        expect(new Set(executed).size).toBe(executed.length);
        const before = executed.length;
        expect(await go(Number.POSITIVE_INFINITY)).toEqual(resumed);
        expect(executed).toHaveLength(before);
      },
    ),
    { numRuns: 60 },
  );
});
