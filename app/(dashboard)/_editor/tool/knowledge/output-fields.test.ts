import { expect, test } from "vitest";
import { fieldsOf } from "./output-fields";

test("the fields of an output, with their values", () => {
  const output = { status: 200, body: { "order-id": "A-1", lines: [{ sku: "x" }, {}] }, none: [] };
  expect(fieldsOf("steps.a", output).map(({ name, preview }) => `${name} ${preview}`)).toEqual([
    "steps.a.status 200",
    "steps.a.body {2}",
    'steps.a.body.`order-id` "A-1"',
    "steps.a.body.lines list of 2",
    "steps.a.body.lines[0] {1}",
    'steps.a.body.lines[0].sku "x"',
    "steps.a.none list of 0",
  ]);
});

test("many fields and long values are cut", () => {
  const fields = fieldsOf(
    "a",
    Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`f${n}`, "x".repeat(99)])),
  );
  expect(fields).toHaveLength(40);
  expect(fields[0]?.preview).toHaveLength(41);
});
