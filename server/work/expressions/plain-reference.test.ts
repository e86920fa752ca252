import fc from "fast-check";
import jsonata from "jsonata";
import { expect, test } from "vitest";
import type { Json } from "@/server/base/json/json";
import { evaluateReference } from "@/server/work/expressions/plain-reference";

/** Mostly names that meet. */
const names = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom("a", "b") },
  { weight: 1, arbitrary: fc.constantFrom("$", "a b", "__proto__", "length") },
);
const values: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "medium", withCrossShrink: true },
    fc.constantFrom<Json>(null, true, 0, 1.5, "", "text", "\0", "\ud800"),
    fc.array(tie("value"), { maxLength: 4 }),
    fc
      .uniqueArray(fc.tuple(names, tie("value")), { maxLength: 4, selector: ([name]) => name })
      .map((entries) =>
        JSON.parse(`{${entries.map(([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v)}`)}}`),
      ),
  ),
})).value;
const indexes = fc.array(fc.integer({ min: -3, max: 3 }), { maxLength: 2 });
const steps = fc.tuple(names, indexes).map(([name, picked]) => {
  const written = /^[a-z]\w*$/.test(name) ? name : `\`${name}\``;
  return written + picked.map((index) => `[${index}]`).join("");
});
const references = fc.array(steps, { minLength: 1, maxLength: 3 }).map((path) => path.join("."));

test("a reference has the value that JSONata gives, or is left to it", async () => {
  let direct = 0;
  await fc.assert(
    fc.asyncProperty(references, values, async (expression, input) => {
      const found = await evaluateReference(expression, input);
      if (found === null) return;
      const expected: unknown = await jsonata(expression).evaluate(input);
      const text = (value: unknown) => JSON.stringify(value);
      expect(text(found.value)).toBe(text(expected));
      if (found.value !== undefined) direct += 1;
    }),
    { numRuns: 3_000 },
  );
  expect(direct).toBeGreaterThan(50);
});

test.each(["a + 1", "a[b]", "a.*", "$a", "a[0..1]", "true", "(a)"])(
  "%s is not a reference",
  async (expression) => {
    expect(await evaluateReference(expression, { a: [1] })).toBeNull();
  },
);

test.each([
  ["a function of JSONata", { a: { _jsonata_lambda: true, b: 1 } }],
  ["a result with such a function", { a: { b: { _jsonata_function: true } } }],
  ["a text that JSONata would clean", { a: { b: "\0" } }],
])("%s in the data is left to the sandbox", async (_name, input) => {
  expect(await evaluateReference("a.b", input)).toBeNull();
});

test("many indexes over much data are left to the sandbox after a short walk", async () => {
  let reads = 0;
  const item = {
    get b() {
      reads += 1;
      return 1;
    },
  };
  const input = { a: Array.from({ length: 100_000 }, () => item) };
  expect(await evaluateReference(`a.b${"[0]".repeat(300)}`, input)).toBeNull();
  expect(reads).toBeGreaterThan(0);
  expect(reads).toBeLessThan(100);
});
