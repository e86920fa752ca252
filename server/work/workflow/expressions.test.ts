import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "@/server/base/json/json";
import { ExpressionError, evaluateExpression, parseExpression } from "@/server/work/expressions/jsonata";
import {
  evaluateIn,
  fillIn,
  isTrue,
  parseCondition,
  parseTemplate,
  type Scope,
} from "@/server/work/workflow/expressions";
import { findReferences } from "@/server/work/workflow/references";

const facts = { now: new Date("2026-03-04T05:06:07.000Z"), seed: "run-1", organizationId: "org-1" };
const values = {
  input: { city: "Oslo", n: 2, list: [1, 2], none: null, flag: false, "odd name": "o" },
  run: { id: "r-1" },
  item: { name: "x" },
};
const steps = {
  fetch: { status: 200, body: { temp: 7, tags: ["a", "b"] } },
  skipped: null,
  loans: [{ isbn: 1, customer: "Ada" }],
  books: [
    { isbn: 1, title: "One" },
    { isbn: 2, title: "Two" },
  ],
};
const scope: Scope = { values, steps };
const fill = (value: Json) => fillIn(value, scope, facts);

describe("fillIn", () => {
  test("rejects values that are too large together, as text and as a list", async () => {
    const large: Scope = { values: { input: "x".repeat(1024 * 1024) }, steps: {} };
    await expect(fillIn("{{ input }}".repeat(1000), large, facts)).rejects.toThrow(ExpressionError);
    await expect(fillIn(Array(1000).fill("{{ input }}"), large, facts)).rejects.toThrow("8 MiB together");
    expect(await fillIn("{{ input }}".repeat(8), large, facts)).toHaveLength(8 * 1024 * 1024);
  });

  test("gives each expression its own random numbers, the same ones each time", async () => {
    const template = ["{{ $random() }} {{ $random() }}", { a: "{{ $random() }}" }];
    const filled = await fill(template);
    expect(new Set(JSON.stringify(filled).match(/0\.\d+/g))).toHaveProperty("size", 3);
    expect(await fill(template)).toEqual(filled);
  });

  test("lets the process do other work between many cheap expressions", async () => {
    const list = Array.from({ length: 10_000 }, () => ({}));
    let ticks = 0;
    const ticking = setInterval(() => {
      ticks += 1;
    }, 5);
    await fillIn("{{ list.b }}".repeat(2000), { values: { list }, steps: {} }, facts);
    clearInterval(ticking);
    expect(ticks).toBeGreaterThan(10);
  });

  test.each<[Json, Json]>([
    ["no template", "no template"],
    ["{{ input.n }}", 2],
    ["  {{ input.n }}\n", 2],
    ["{{ input }}", values.input],
    ["{{ steps.fetch.body }}", { temp: 7, tags: ["a", "b"] }],
    ["{{ input.flag }}", false],
    ["{{ input.missing }}", null],
    ["{{ steps.skipped.body }}", null],
    ["n is {{ input.n }}", "n is 2"],
    ["[{{ input.missing }}|{{ input.none }}|{{ input.flag }}]", "[||false]"],
    [
      "tags: {{ steps.fetch.body.tags }}, body: {{ steps.fetch.body }}",
      'tags: ["a","b"], body: {"temp":7,"tags":["a","b"]}',
    ],
    ["{{ input.n }}{{ input.n }}", "22"],
    ["{{ {'a': {'b': input.n}} }}", { a: { b: 2 } }],
    ["{{{'a': {'b': input.n}}}}", { a: { b: 2 } }],
    ['{{ "}} {{" }}', "}} {{"],
    ["{{ '}}' & '{{' }}!", "}}{{!"],
    ["{{ $replace('a}}b', /[{}]+/, '-') }}", "a-b"],
    ["{{ /* }} */ input.n }}", 2],
    ["{{ input.`odd name` }}", "o"],
    ["a {single} } brace {", "a {single} } brace {"],
    ["closing only }}", "closing only }}"],
    ["{{ $now() }} {{ run.id }} {{ item.name }}", "2026-03-04T05:06:07.000Z r-1 x"],
    [
      {
        url: "https://w.test?q={{ $encodeUrlComponent(input.city) }}",
        n: ["{{ input.n }}", 3],
        "{{ key }}": null,
      },
      { url: "https://w.test?q=Oslo", n: [2, 3], "{{ key }}": null },
    ],
  ])("%j", async (template, expected) => {
    expect(await fill(template)).toEqual(expected);
  });

  test.each([
    ["{{ input.n", /never closed/],
    ["{{ }}", /is empty/],
    ["{{ input. }}", /Unexpected end|end of/],
    ["{{ 'open }}", /quote|terminat/i],
    [`{{ ${"}}".repeat(1000)}`, /./],
    ["{{ $nope() }}", /non-function|not a function/],
  ])("%s is an issue", async (template, message) => {
    await expect(fill(template)).rejects.toThrow(ExpressionError);
    await expect(fill(template)).rejects.toThrow(message);
  });

  test("a key named __proto__ stays data", async () => {
    const filled = await fill(JSON.parse('{"__proto__": "{{ input.n }}"}'));
    expect(JSON.stringify(filled)).toBe('{"__proto__":2}');
  });
});

describe("parseTemplate", () => {
  test("plain text without braces stays one part, whatever it is", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => {
        fc.pre(!text.includes("{{"));
        expect((await parseTemplate(text, "org-1")).parts.join("")).toBe(text);
      }),
    );
  });

  test("any text written as a literal round-trips, also within other text", async () => {
    const plain = fc.string({ unit: "grapheme" }).filter((text) => !text.includes("{{"));
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme" }), plain, plain, async (literal, before, after) => {
        const template = `{{ ${JSON.stringify(literal)} }}`;
        expect(await fill(template)).toBe(literal);
        // A brace right before {{ would be part of the opening.
        fc.pre(!before.endsWith("{"));
        const filled = before.trim() + after.trim() === "" ? literal : before + literal + after;
        expect(await fill(before + template + after)).toBe(filled);
      }),
      { numRuns: 200 },
    );
  });

  test("any JSON value written into an expression round-trips", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 3 }), async (generated) => {
        const value: Json = JSON.parse(JSON.stringify(generated));
        fc.pre(!JSON.stringify(value).includes("__proto__"));
        expect(await fillIn(`{{ input }}`, { values: { input: value }, steps: {} }, facts)).toEqual(value);
      }),
      { numRuns: 100 },
    );
  });
});

describe("conditions", () => {
  test.each<[string, boolean]>([
    ["input.n > 1", true],
    ["{{ input.n > 2 }}", false],
    ["{{ input.missing }}", false],
    ["{{ input.list }}", true],
    ["{{ [] }}", false],
    ["{{ {} }}", false],
    ["{{ '' }}", false],
    ["{{ 'x' }}", true],
    ["{{ [0, 0] }}", false],
  ])("%s is %s", async (text, expected) => {
    expect(isTrue(await evaluateIn(scope, await parseCondition(text, "org-1"), facts))).toBe(expected);
  });

  test("more than one expression is rejected", async () => {
    await expect(parseCondition("x {{ input.n }}", "org-1")).rejects.toThrow(/single expression/);
    await expect(parseCondition(" ", "org-1")).rejects.toThrow(/is empty/);
  });
});

describe("findReferences", () => {
  const references = async (expression: string) =>
    findReferences(await parseExpression(expression, "org-1")).map(({ root, member }) => `${root}.${member}`);

  test.each<[string, string[]]>([
    ["steps.fetch.body.temp", ["steps.fetch"]],
    ["$$.steps.fetch", ["steps.fetch"]],
    ["$.input.n", ["input.n"]],
    ["steps.`a-b`", ["steps.a-b"]],
    ["steps", ["steps.null"]],
    ["steps.*", ["steps.null"]],
    ["input.list[x = input.n]", ["input.list"]],
    ["input.list[x = $$.steps.a.n]", ["input.list", "steps.a"]],
    ["input.list.(y + $$.run.id)", ["input.list", "run.id"]],
    ["$map(steps.a.list, function($v){ $v & item.name })", ["steps.a", "item.name"]],
    ["input.n > 1 ? steps.a : {'k': steps.b}", ["input.n", "steps.a", "steps.b"]],
    ["($s := steps.a; $s.q)", ["steps.a"]],
    ["$lookup(steps, 'a')", ["steps.null"]],
    ["$lookup($$, 'steps')", ["null.null"]],
    ["$eval('steps')", ["null.null"]],
    ["**.temp", ["null.null"]],
    ["*", ["null.null"]],
    ["steps[0].c", ["steps.null"]],
    ["input.list^(>steps)", ["input.list"]],
    ["steps.a ~> |$|{'b': 2}|", ["steps.a"]],
    ["steps.a@$a.b@$b.{'c': c}", ["steps.a", "steps.null", "steps.b", "steps.null", "steps.null"]],
    ["steps.a@$a.b.c", ["steps.a", "steps.null", "steps.b"]],
    ["input@$i.steps.a", ["input.null", "null.null", "steps.a"]],
    ["$$.input@$i.steps.a", ["input.null", "null.null", "steps.a"]],
    ["input.list@$l.steps.a", ["input.list", "input.null", "input.steps"]],
    ["input.list.x@$x.steps", ["input.list"]],
    ["1 + 1", []],
  ])("%s", async (expression, expected) => {
    expect(await references(expression)).toEqual(expected);
  });

  test.each([
    "steps.fetch.body.tags[0]",
    "steps.fetch.body{$string(temp): tags}",
    "$keys(steps)",
    "steps.*.status",
    "**.temp",
    "$lookup($$, 'steps').fetch.status",
    "$eval('steps.fetch.status')",
    "$.steps.fetch.body.tags",
    "input.list.($ + $$.steps.fetch.status)",
    "input.list[$ < $$.input.n]",
    "$map(input.list, function($v){ $v * steps.fetch.body.temp })",
    "($f := function($x){ $x & item.name }; $f(run.id))",
    "[steps.fetch, input.list].status",
    "$merge([steps.fetch, input])",
    "steps.fetch ~> $keys()",
    "(steps.fetch).body",
    "steps.(fetch.status)",
    "input ~> |$|{'m': $$.steps.fetch.status}|",
    "$filter([1..3], function($v){ $v in input.list })",
    "$sort(steps.fetch.body.tags, function($a, $b){ $a < $b })",
    "input.list@$l.{'l': $l, 's': $$.steps.fetch.status}",
    "steps.loans@$l.books@$b[$l.isbn = $b.isbn].{'t': $b.title, 'c': $l.customer}",
    "steps.loans@$l.books.title",
    "steps.loans@$l",
    "steps.loans@$l.books@$b{$b.title: fetch.status}",
    "input@$i.steps.loans",
    "$$@$all.steps.books.title",
    "(input.n)@$n.steps.books.title",
    "steps.fetch.body.tags#$i.{'i': $i}",
    "steps.fetch.body.temp.%.tags",
    "input.n in [1, 2] and steps.fetch.status = 200",
    "$string($)",
  ])("reading only references gives the same result: %s", async (expression) => {
    const parsed = await parseCondition(`{{ ${expression} }}`, "org-1");
    const value = await evaluateIn(scope, parsed, facts);
    expect(value).toBeDefined();
    expect(value).toEqual(await evaluateExpression(expression, { ...values, steps }, facts));
  });
});
