import { expect, test } from "vitest";
import { findNamesOfStep, textsOf } from "./step-names";

const renamed = async (text: string, isCondition = false) => {
  const names = await findNamesOfStep(text, { step: "a", isCondition, organizationId: "o" });
  return names.toReversed().reduce((all, { from, to }) => `${all.slice(0, from)}NEW${all.slice(to)}`, text);
};

test.each([
  ["{{ steps.a }}", "{{ steps.NEW }}"],
  [
    "{{steps.a.a[0].steps.a}} and {{ steps.`a` & steps.'a'.b }}",
    "{{steps.NEW.a[0].steps.a}} and {{ steps.NEW & steps.NEW.b }}",
  ],
  ['steps.a {{ "steps.a" & steps.ab & input.a }}', 'steps.a {{ "steps.a" & steps.ab & input.a }}'],
  ["{{ /* steps.a */ steps . a }}", "{{ /* steps.a */ steps . NEW }}"],
  ['{{ {"a": {"b": steps.a}} }} {{ steps.a }}', '{{ {"a": {"b": steps.NEW}} }} {{ steps.NEW }}'],
  ["{{ input.list[x = $$.steps.a.x and steps.a] }}", "{{ input.list[x = $$.steps.NEW.x and steps.a] }}"],
  [
    "{{ $map(steps.a.list, function($v) { $v + steps.a.n }) }}",
    "{{ $map(steps.NEW.list, function($v) { $v + steps.NEW.n }) }}",
  ],
  ["{{ steps.b@$b.a@$a[$a.a = $b.a].steps.a }}", "{{ steps.b@$b.NEW@$a[$a.a = $b.a].steps.a }}"],
  ["{{ input@$i.steps.a }}", "{{ input@$i.steps.NEW }}"],
  ["{{ $f(1)[x = $$.steps.a].y }}", "{{ $f(1)[x = $$.steps.NEW].y }}"],
  ["{{ steps.a + }} {{ steps.a }}", "{{ steps.a + }} {{ steps.a }}"],
  ["steps.a", "steps.a"],
])("the names of a step in %j", async (text, expected) => {
  expect(await renamed(text)).toBe(expected);
});

test("a condition is an expression with or without braces", async () => {
  expect(await renamed(" steps.a.n > 0", true)).toBe(" steps.NEW.n > 0");
  expect(await renamed("{{ steps.a.n > 0 }}", true)).toBe("{{ steps.NEW.n > 0 }}");
});

test("the texts of a tool: conditions, inputs of steps and of groups, the output", () => {
  const step = { if: "1", forEach: "2", with: { x: ["3", { y: "4" }] }, parallel: [{ with: { z: "5" } }] };
  const texts = [...textsOf({ name: "no", steps: [step, null], output: { o: "6" } })];
  expect(texts.map(({ text, path }) => `${text} ${path.join(".")}`)).toEqual([
    "1 steps.0.if",
    "2 steps.0.forEach",
    "3 steps.0.with.x.0",
    "4 steps.0.with.x.1.y",
    "5 steps.0.parallel.0.with.z",
    "6 output.o",
  ]);
});
