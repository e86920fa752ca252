import { expect, test } from "vitest";
import { describeSkip } from "./describe-skip";

test("names the condition, its value, and the fields that it read", () => {
  expect(
    describeSkip({
      by: "if",
      expression: 'steps.check.state = "late"',
      value: "false",
      read: [{ path: "steps.check.state", value: null }],
    }),
  ).toBe('Skipped: steps.check.state = "late" is false; steps.check.state is nothing');
  expect(describeSkip({ by: "forEach", expression: "steps.orders.itms", value: null, read: [] })).toBe(
    "Skipped, no items: steps.orders.itms is nothing",
  );
});
