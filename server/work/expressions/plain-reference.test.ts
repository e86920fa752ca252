import fc from "fast-check";
import jsonata from "jsonata";
import { expect, test } from "vitest";
import type { Json } from "@/server/base/json/json";
import { evaluateReference } from "@/server/work/expressions/plain-reference";

const names = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom("a", "b") },
  { weight: 1, arbitrary: fc.constantFrom("$", "a b", "__proto__", "length") },
);
const values: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "medium", withCrossShrink: true },
    fc.constantFrom<Json>(null, true, 0, 1.5, "", "text"),
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
      const found = evaluateReference(expression, input);
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

test.each(["a + 1", "a[b]", "a.*", "$a", "a[0..1]", "true", "(a)"])("%s is not a reference", (expression) => {
  expect(evaluateReference(expression, { a: [1] })).toBeNull();
});

test.each<Json>([{ _jsonata_lambda: true, c: 1 }, { c: { _jsonata_function: true } }])(
  "%j is data, although it looks like a function of JSONata",
  (b) => {
    expect(evaluateReference("a.b", { a: { b } })).toEqual({ value: b });
  },
);

test.each([
  ["a name in each item of a list", "a.b", 20_001],
  ["many indexes over a list", `a.b${"[0]".repeat(300)}`, 1_000],
])("%s is left to the sandbox after a short walk", (_name, expression, length) => {
  let reads = 0;
  const item = {
    get b() {
      reads += 1;
      return 1;
    },
  };
  const input = { a: Array.from({ length }, () => item) };
  expect(evaluateReference(expression, input)).toBeNull();
  expect(reads).toBeLessThan(100);
});
