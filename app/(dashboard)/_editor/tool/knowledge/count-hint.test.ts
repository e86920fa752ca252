import { expect, test } from "vitest";
import { warnOfCount } from "./count-hint";

const OUTPUTS = new Map<string, unknown>([
  ["skipped", null],
  ["fetch", { body: { items: [], next: null }, "a b": null, list: [{ x: 1 }] }],
]);

test.each([
  [
    "$count(steps.skipped) > 0",
    "steps.skipped was null in the last output. $count of null is 1: compare with steps.skipped != null.",
  ],
  ["$count( steps.fetch.body.next )", /^steps\.fetch\.body\.next was null/],
  ["$count(steps.fetch.`a b`)", /^steps\.fetch\.`a b` was null/],
  ["$count(steps.fetch.body.item) > 0", "The last output has no steps.fetch.body.item."],
  ["$count(steps.skipped.items)", "The last output has no steps.skipped.items."],
])("%s: %s", (expression, warning) => {
  expect(warnOfCount(expression, OUTPUTS)).toEqual(
    typeof warning === "string" ? warning : expect.stringMatching(warning),
  );
});

test.each([
  "$count(steps.fetch.body.items) > 0",
  "$count(steps.fetch.list.y)",
  "$count(steps.other)",
  "$count(steps.fetch.body[x = 1])",
  "$count(input.items)",
  "steps.skipped",
])("%s needs no warning", (expression) => {
  expect(warnOfCount(expression, OUTPUTS)).toBeNull();
});
