import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "@/server/base/json/json";
import { ProcessMemory } from "@/server/guard/limits/process-memory";
import { workflowDefinition } from "@/server/work/workflow/definition";
import { runWorkflow } from "@/server/work/workflow/interpret";
import type {
  RunFacts,
  SkippedStep,
  WorkflowCall,
  WorkflowCallResult,
  WorkflowJournal,
} from "@/server/work/workflow/journal";

const facts: RunFacts = {
  id: "r-1",
  organizationId: "org-1",
  startedAt: new Date("2026-03-04T05:06:07.000Z"),
  toolName: "Weather",
  memory: new ProcessMemory().openRun("org-1"),
  signal: new AbortController().signal,
};

const fork: WorkflowJournal["fork"] = (works) => Promise.all(works.map((work) => work()));

function journalOf(answer: (call: WorkflowCall) => WorkflowCallResult | Promise<WorkflowCallResult>) {
  const calls: WorkflowCall[] = [];
  const skipped: SkippedStep[] = [];
  return {
    calls: () => calls,
    skipped: () => skipped,
    skip: (step: SkippedStep) => void skipped.push(step),
    async call(call: WorkflowCall) {
      calls.push(call);
      return answer(call);
    },
    fork,
  };
}
const failed = (message: string, code = "failed"): WorkflowCallResult => ({ ok: false, message, code });

const ok = (output: Json): WorkflowCallResult => ({ ok: true, output: JSON.stringify(output) });
const echo = journalOf.bind(null, (call) => ok(call.input));

async function run(definition: JsonObject, input: JsonObject = {}, journal = echo()) {
  const parsed = workflowDefinition.parse(definition);
  const ended = await runWorkflow(parsed, { input: JSON.stringify(input), facts, journal });
  const outcome = ended.status === "Completed" ? { ...ended, output: JSON.parse(ended.output) } : ended;
  return { outcome, journal };
}

test("expressions get an input without unpaired surrogates", async () => {
  const journal = echo();
  const steps = [{ id: "a", uses: "set_value", with: { name: "n", value: "{{ input.text }}" } }];
  await run({ steps, output: "{{ input }}" }, { text: "a\ud800b😀" }, journal);
  expect(journal.calls()[0]?.input).toEqual({ name: "n", value: "a\ufffdb😀" });
});

test("passes outputs on and returns the output", async () => {
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
  });
  expect(journal.calls()[0]).toMatchObject({
    key: "fetch",
    stepId: "fetch",
    itemIndex: null,
    functionName: "http_request",
    input: { url: "https://w.test?q=Oslo" },
    retries: { count: 2, firstWaitMs: 500, factor: 2, longestWaitMs: 30_000 },
    timeoutMs: 500,
    act: "fetch",
    width: 1,
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

  test("has `concurrency` calls under way, begins the next when one ends, and keeps the order", async () => {
    const open = new Map<string, () => void>();
    const journal = journalOf(async (call) => {
      await new Promise<void>((end) => open.set(call.key, end));
      return ok(call.input);
    });
    const running = run(definition, { list: ["x", "y", "z"] }, journal);
    // Filling in an input pauses when the thread is busy, so calls may begin in any order.
    const keys = () =>
      journal
        .calls()
        .map((call) => call.key)
        .sort();
    await expect.poll(keys).toEqual(["a[0]", "a[1]"]);
    open.get("a[1]")?.();
    await expect.poll(keys).toEqual(["a[0]", "a[1]", "a[2]"]);
    open.get("a[2]")?.();
    open.get("a[0]")?.();
    expect((await running).outcome).toMatchObject({ output: [{ w: "x" }, { w: "y" }, { w: "z" }] });
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

  test("begins no further item after a failure, and names the first item that failed", async () => {
    const journal = journalOf((call) => (call.itemIndex === 2 ? ok(1) : failed("no")));
    const { outcome } = await run(definition, { list: ["x", "y", "z"] }, journal);
    expect(outcome).toEqual({
      status: "Failed",
      code: "step_failed",
      message: 'Step "a" failed: item 0: no',
    });
    // Their inputs are evaluated in parallel: either may begin first.
    expect(
      journal
        .calls()
        .map((call) => call.key)
        .sort(),
    ).toEqual(["a[0]", "a[1]"]);
  });

  test("reports once that a step of a child run failed, with the way to it", async () => {
    const message = 'Step "each" failed: item 1: step "inner": no';
    const [step] = definition.steps;
    const steps = (fields: JsonObject) => ({ steps: [{ ...step, ...fields }] });
    const items = await run(
      definition,
      { list: ["x"] },
      journalOf(() => failed(message, "step_failed")),
    );
    expect(items.outcome).toMatchObject({
      message: 'Step "a" failed: item 0: step "each": item 1: step "inner": no',
    });
    const alone = { id: "a", uses: "f", with: {} };
    const one = await run(
      { steps: [alone] },
      {},
      journalOf(() => failed(message, "step_failed")),
    );
    expect(one.outcome).toMatchObject({
      message: 'Step "a" failed: step "each": item 1: step "inner": no',
    });
    const tolerated = await run(
      steps({ onError: "continue" }),
      { list: ["x"] },
      journalOf(() => failed(message)),
    );
    expect(tolerated.outcome).toMatchObject({ output: [{ error: message }] });
  });

  test("with onError: continue a failing item is its error", async () => {
    const journal = journalOf((call) => (call.itemIndex === 1 ? failed("no", "timeout") : ok(1)));
    const [step] = definition.steps;
    const { outcome } = await run(
      { steps: [{ ...step, onError: "continue" }] },
      { list: ["x", "y", "z"] },
      journal,
    );
    expect(outcome).toMatchObject({ output: [1, { error: "no", code: "timeout" }, 1] });
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

describe("parallel", () => {
  const inner = (id: string, fields: JsonObject = {}): JsonObject => ({
    id,
    uses: "f",
    with: { from: id },
    ...fields,
  });
  const group = (parallel: JsonObject[], fields: JsonObject = {}): JsonObject => ({
    id: "both",
    parallel,
    ...fields,
  });

  test("runs its steps side by side; later steps see each and all", async () => {
    const open = new Map<string, () => void>();
    const journal = journalOf(async (call) => {
      if (call.key !== "c") await new Promise<void>((end) => open.set(call.key, end));
      return ok(call.input);
    });
    const last = inner("c", { with: { a: "{{ steps.a.from }}", all: "{{ steps.both }}" } });
    const running = run({ steps: [group([inner("a"), inner("b")]), last] }, {}, journal);
    await expect.poll(() => open.size).toBe(2);
    for (const end of open.values()) end();
    expect((await running).outcome).toMatchObject({
      output: { a: "a", all: { a: { from: "a" }, b: { from: "b" } } },
    });
  });

  test("fails with its first failing step, and continues with onError where that is set", async () => {
    const journal = () => journalOf((call) => (call.key === "b" ? failed("no", "timeout") : ok(1)));
    const failing = await run({ steps: [group([inner("a"), inner("b")])] }, {}, journal());
    expect(failing.outcome).toMatchObject({ message: 'Step "both" failed: step "b": no' });
    const tolerated = { error: "no", code: "timeout" };
    const inside = await run(
      { steps: [group([inner("a"), inner("b", { onError: "continue" })])] },
      {},
      journal(),
    );
    expect(inside.outcome).toMatchObject({ output: { a: 1, b: tolerated } });
    const around = await run(
      {
        steps: [group([inner("a"), inner("b")], { onError: "continue" })],
        output: { both: "{{ steps.both }}", a: "{{ steps.a }}", b: "{{ steps.b }}" },
      },
      {},
      journal(),
    );
    const both = { error: 'step "b": no', code: "timeout" };
    expect(around.outcome).toMatchObject({ output: { both, a: 1, b: tolerated } });
  });

  test("that is skipped leaves null for itself and its steps", async () => {
    const { outcome, journal } = await run({
      steps: [group([inner("a"), inner("b")], { if: "false" })],
      output: { both: "{{ steps.both }}", a: "{{ steps.a }}" },
    });
    expect(outcome).toMatchObject({ output: { both: null, a: null } });
    expect(journal.calls()).toEqual([]);
  });
});

test("pinned steps are not executed; later ones read their outputs, also of groups", async () => {
  const journal = echo();
  const definition = workflowDefinition.parse({
    steps: [
      { id: "a", uses: "f", if: "$error('read')" },
      {
        id: "both",
        parallel: [
          { id: "x", uses: "f" },
          { id: "y", uses: "f" },
        ],
      },
      { id: "last", uses: "f", with: { a: "{{ steps.a }}", x: "{{ steps.x }}", y: "{{ steps.both.y }}" } },
    ],
  });
  const pinned = { a: "{{ text }}", both: { x: 1, y: 2 } };
  const outcome = await runWorkflow(definition, { input: "{}", pinned, facts, journal });
  expect(outcome).toEqual({ status: "Completed", output: '{"a":"{{ text }}","x":1,"y":2}' });
  expect(journal.calls().map(({ key }) => key)).toEqual(["last"]);
});

test("a pinned output without a step of its group leaves null for it, also if it is named as a method", async () => {
  const names = ["x", "constructor", "toString"];
  const definition = workflowDefinition.parse({
    steps: [{ id: "both", parallel: names.map((id) => ({ id, uses: "f" })) }],
    output: names.map((id) => `{{ steps.${id} }}`),
  });
  const outcome = await runWorkflow(definition, {
    input: "{}",
    pinned: { both: { x: 1 } },
    facts,
    journal: echo(),
  });
  expect(outcome).toEqual({ status: "Completed", output: "[1,null,null]" });
});

describe("failures", () => {
  const failing = () => journalOf((call) => (call.stepId === "a" ? failed("boom") : ok(call.input)));

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
    const ended = runWorkflow(definition, {
      input: "{}",
      facts: { ...facts, signal: ending.signal },
      journal,
    });
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

  test("rejected inputs and outputs leave room for those of later steps", async () => {
    const text = "x".repeat(1024 * 1024 - 2);
    const large = (id: string, more: JsonObject) => ({ id, uses: "f", onError: "continue", ...more });
    const ofInputs = Array.from({ length: 16 }, (_, index) =>
      large(`i${index}`, { with: { text: "{{ input.text }}" } }),
    );
    const { outcome, journal } = await run(
      { steps: [...ofInputs, { id: "small", uses: "f", with: { n: 1 } }] },
      { text },
      journalOf(() => ok(null)),
    );
    expect(outcome).toMatchObject({ status: "Completed" });
    expect(journal.calls()).toHaveLength(16);
    const ofOutputs = Array.from({ length: 17 }, (_, index) => large(`o${index}`, {}));
    const later = await run(
      { steps: [...ofOutputs, { id: "small", uses: "g" }] },
      {},
      journalOf(({ functionName }) => ok(functionName === "f" ? text.slice(8) : null)),
    );
    expect(later.outcome).toMatchObject({ status: "Completed" });
  });

  test("inputs over 16 MiB together fail the step, and no further call is made", async () => {
    const { outcome, journal } = await run(
      {
        steps: [
          { id: "a", uses: "f", forEach: "[1..1000]", with: { text: "{{ input.text }}" }, concurrency: 5 },
        ],
      },
      { text: "x".repeat(1024 * 1024 - 11) },
      journalOf(() => ok(null)),
    );
    expect(outcome).toEqual({
      status: "Failed",
      code: "step_failed",
      message: expect.stringMatching(
        /^Step "a" failed: item \d+: the inputs of all calls together are larger than 16 MiB$/,
      ),
    });
    expect(journal.calls()).toHaveLength(16);
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

  test("an error in the output expression fails the run", async () => {
    const { outcome } = await run({ steps: [{ id: "a", uses: "f" }], output: "{{ $error('nope') }}" });
    expect(outcome).toMatchObject({
      status: "Failed",
      code: "output_failed",
      message: expect.stringContaining("Could not evaluate the output: nope"),
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

describe("a skipped step", () => {
  const skipsOf = async (steps: JsonObject[], input: JsonObject = {}) => {
    const { outcome, journal } = await run({ steps }, input);
    expect(outcome.status).toBe("Completed");
    return journal.skipped();
  };
  const check = { id: "check", uses: "f", with: { status: "late", late: [], tags: { a: 1 } } };

  test("is noted with its condition, what that evaluated to, and the fields it read", async () => {
    expect(
      await skipsOf([
        check,
        { id: "notify", uses: "g", if: '{{ steps.check.state = "late" and $count(steps.check.late) = 0 }}' },
      ]),
    ).toEqual([
      {
        key: "notify",
        functionName: "g",
        note: {
          by: "if",
          expression: 'steps.check.state = "late" and $count(steps.check.late) = 0',
          value: "false",
          read: [
            { path: "steps.check.state", value: null },
            { path: "steps.check.late", value: "[]" },
          ],
        },
      },
    ]);
  });

  test.each([
    ["steps.check.state", null],
    ["steps.check.late", "[]"],
    ["input.flag", "false"],
    ["input.text", '""'],
    ["input.none", "null"],
    ["input.zeros", "3 items"],
  ])("whose condition is %s shows %s", async (condition, value) => {
    const input = { flag: false, text: "", none: null, zeros: [0, 0, 0] };
    const [skipped] = await skipsOf([check, { id: "notify", uses: "g", if: condition }], input);
    expect(skipped?.note).toEqual({ by: "if", expression: condition, value, read: [] });
  });

  test("may be a group, a step of a group, or a step without items", async () => {
    const skipped = await skipsOf([
      check,
      { id: "group", if: "false", parallel: [{ id: "inner", uses: "f" }] },
      {
        id: "both",
        parallel: [
          { id: "one", uses: "f", if: "input.x" },
          { id: "two", uses: "f" },
        ],
      },
      { id: "each", uses: "f", forEach: "steps.check.itms" },
    ]);
    expect(skipped.map(({ key, functionName, note }) => [key, functionName, note.by, note.value])).toEqual([
      ["group", "parallel", "if", "false"],
      ["one", "f", "if", null],
      ["each", "f", "forEach", null],
    ]);
  });

  test("shows the beginning of a path with a predicate, and sizes of large values", async () => {
    const [skipped] = await skipsOf(
      [
        check,
        { id: "a", uses: "f", if: '$count(input.orders[state = "late"].id) > 0 or steps.check.tags.b' },
      ],
      { orders: [{ id: 1 }, { id: 2 }] },
    );
    expect(skipped?.note.read).toEqual([
      { path: "input.orders", value: "2 items" },
      { path: "steps.check.tags.b", value: null },
    ]);
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
        const skipped = new Map<string, string>();
        const durable = (crashAfter: number): WorkflowJournal => ({
          async call(call) {
            const known = stored.get(call.key);
            if (known === undefined && executed.length >= crashAfter) throw new Error("crash");
            const fails = failEvery > 0 && (call.key.length + (call.itemIndex ?? 0)) % failEvery === 2;
            const result = known ?? (fails ? failed("no") : ok(call.input));
            if (known === undefined) executed.push(`${call.key} ${JSON.stringify(call.input)}`);
            stored.set(call.key, result);
            return result;
          },
          skip: ({ key, note }) => {
            const text = JSON.stringify(note);
            expect(skipped.get(key) ?? text).toBe(text);
            skipped.set(key, text);
          },
          fork,
        });
        const go = (crashAfter: number) =>
          runWorkflow(workflowDefinition.parse({ steps }), {
            input: JSON.stringify({ list, flag }),
            facts,
            journal: durable(crashAfter),
          });
        await go(cutAt).catch((error) => expect(error.message).toBe("crash"));
        const resumed = await go(Number.POSITIVE_INFINITY);
        const interrupted = [...executed].sort();
        stored.clear();
        executed.length = 0;
        expect(await go(Number.POSITIVE_INFINITY)).toEqual(resumed);
        // After a failure, which items had started depends on time.
        if (resumed.status === "Completed" && !JSON.stringify(resumed).includes("item"))
          expect([...executed].sort()).toEqual(interrupted);
        expect(new Set(executed).size).toBe(executed.length);
        const before = executed.length;
        expect(await go(Number.POSITIVE_INFINITY)).toEqual(resumed);
        expect(executed).toHaveLength(before);
      },
    ),
    { numRuns: 60 },
  );
});
