import { expect, test } from "vitest";
import { evaluateExpression, parseExpression } from "@/server/work/expressions/jsonata";
import { describeUnknownVariable } from "@/server/work/expressions/unknown-variables";

const describe = async (expression: string) =>
  describeUnknownVariable(await parseExpression(expression, "org-1"));

test.each([
  ["$uppercse(input.a)", "$uppercse"],
  ["input.list.$foo", "$foo"],
  ["false ? $nothing(1) : 2", "$nothing"],
  ["$map(input.list, function($x) { $y + $x })", "$y"],
  ["input.a ~> $trm", "$trm"],
  ["{ 'a': [$b] }", "$b"],
  ["$f(?, 1)", "$f"],
])("%s names an unknown function or variable", async (expression, name) => {
  expect(await describe(expression)).toMatch(
    `there is no function or variable "${name}"; known functions: $abs, $append, `,
  );
});

test.each([
  "$uppercase($$.input.a) & $string($)",
  "$map(input.list, function($x, $i) { $x + $i })",
  "input.list#$i.{ 'at': $i }",
  "input.list[a = 1]#$i[b = 2].{ 'at': $i }",
  "input.list@$l.others@$o[$l.id = $o.id]",
  "( $f := $uppercase; $g := λ($n) { $n < 1 ? 0 : $g($n - 1) }; $f(input.a) & $g(2) )",
  "input ~> |list|{ 'a': $sum(b) }|",
  "$sort(input.list, function($l, $r) { $l.a > $r.a })",
  "$reduce(input.list, $append) ~> $count",
])("%s names none", async (expression) => {
  expect(await describe(expression)).toBeNull();
});

test("JSONata has the known functions", async () => {
  const facts = { now: new Date(0), seed: "", organizationId: "org-1" };
  const [, known = ""] = (await describe("$nothing()"))?.split("known functions: ") ?? [];
  const names = known.split(", ");
  expect(names.length).toBeGreaterThan(50);
  const types = `[${names.map((name) => `$type(${name})`).join(", ")}]`;
  expect(await evaluateExpression(types, {}, facts)).toEqual(names.map(() => "function"));
});
