import { AsyncLocalStorage } from "node:async_hooks";
import { readdirSync, readFileSync } from "node:fs";
import jsonata from "jsonata";
import { describe, expect, test } from "vitest";
import type { Json } from "@/server/base/json/json";
import { ExpressionError, evaluateExpression, parseExpression } from "@/server/work/expressions/jsonata";

const facts = { now: new Date("2026-03-04T05:06:07.000Z"), seed: "run-1", organizationId: "org-1" };
const evaluate = (expression: string, input: Json = {}, timeoutMs?: number) =>
  evaluateExpression(expression, input, { ...facts, ...(timeoutMs && { timeoutMs }) });

test("stopping an expression leaves the process intact, also with AsyncLocalStorage", async () => {
  await new AsyncLocalStorage().run({}, async () => {
    // From a timer, like most work in a server: Node then checks its async context stack.
    await new Promise((resolve) => setTimeout(resolve, 1));
    await expect(evaluate("($f := function(){ $f() }; $f())", {}, 50)).rejects.toThrow("stopped after 50 ms");
    await new Promise((resolve) => setTimeout(resolve, 1));
  });
  expect(await evaluate("1 + 1")).toBe(2);
});

test.each(["1 / 0", "[1 / 0]", "{ 'a': 1 % 0 }"])(
  "%s is an error instead of null (IBM/JSONata4Java#37)",
  async (text) => {
    await expect(evaluate(text)).rejects.toThrow("Is there a division by zero?");
  },
);

test("a long id keeps its digits in a text (jsonata-js/jsonata#761)", async () => {
  expect(await evaluate('"user " & id', { id: 5890840712243077 })).toBe("user 5890840712243077");
});

test("an expression that makes too many items is rejected with the limit", async () => {
  const limit = "A sequence of the expression has more than 200000 items.";
  await expect(evaluate("[1..300000]")).rejects.toThrow(limit);
  await expect(evaluate("[1..20000000]")).rejects.toThrow(limit);
  await expect(evaluate("$append([1..150000], [1..150000])")).rejects.toThrow(limit);
  expect(await evaluate("$count([1..200000])")).toBe(200_000);
});

test.runIf(process.platform === "linux")("expressions give way to the service's own threads", async () => {
  expect(await evaluate("1 + 1")).toBe(2);
  // The fields of stat after the name, which is in brackets; the 17th is the nice value.
  const niceOf = (thread: string) => {
    try {
      return Number(
        readFileSync(`/proc/self/task/${thread}/stat`, "utf8").split(") ").at(-1)?.split(" ")[16],
      );
    } catch {
      // The thread has just ended.
      return 0;
    }
  };
  expect(Math.max(...readdirSync("/proc/self/task").map(niceOf))).toBeGreaterThanOrEqual(10);
});

describe("evaluateExpression", () => {
  test.each([
    ["a.b + 1", { a: { b: 2 } }, 3],
    ["list[x > 1].x", { list: [{ x: 1 }, { x: 2 }, { x: 3 }] }, [2, 3]],
    ["$sum(list)", { list: [1, 2, 3.5] }, 6.5],
    ["{ 'tempC': current.temp }", { current: { temp: 7 } }, { tempC: 7 }],
    ["missing", {}, undefined],
    ["null", {}, null],
    ["$string(a)", { a: [1, { b: 2 }] }, '[1,{"b":2}]'],
    ["$split('a,b', ',')", {}, ["a", "b"]],
    ["$replace('aXbX', /x/i, '-')", {}, "a-b-"],
    ["$distinct(a)", { a: [1, 1, { q: 1 }, { q: 1 }] }, [1, { q: 1 }]],
    ["$toMillis('2020', '[Y]')", {}, 1577836800000],
    ["$fromMillis(0)", {}, "1970-01-01T00:00:00.000Z"],
    ["$formatNumber(1234.5, '#,##0.00')", {}, "1,234.50"],
    ["{'f': function($x){$x}, 'a': 1}", {}, { a: 1 }],
    ["$encodeUrlComponent(c)", { c: "São Paulo" }, "S%C3%A3o%20Paulo"],
    ["a ~> |$|{'b': 2}|", { a: { c: 1 } }, { c: 1, b: 2 }],
    ["$merge([{'a':1},{'b':2}])", {}, { a: 1, b: 2 }],
    ["list^(>x).x", { list: [{ x: 1 }, { x: 3 }, { x: 2 }] }, [3, 2, 1]],
    [
      "list{k: v}",
      {
        list: [
          { k: "a", v: 1 },
          { k: "b", v: 2 },
        ],
      },
      { a: 1, b: 2 },
    ],
  ])("%s", async (expression, input, expected) => {
    expect(await evaluate(expression, input)).toEqual(expected);
  });

  test("U+0000 and unpaired surrogates become U+FFFD, in values, keys and messages", async () => {
    expect(await evaluate('{"a\\u0000": "b\\u0000\\ud800c"}')).toEqual({ "a\ufffd": "b\ufffd\ufffdc" });
    await expect(evaluate('$error("no\\u0000")')).rejects.toThrow("no\ufffd");
  });

  test.each([
    "$base64encode('abc€')",
    "$base64encode('ab')",
    "$base64encode('')",
    "$base64decode('YWJj/+==')",
    "$base64decode('Y W-_')",
    "$encodeUrl('https://x.test/ä b?c=d')",
    "$encodeUrlComponent('ä b?c=d')",
    "$decodeUrl('https://x.test/%C3%A4%20b')",
    "$decodeUrlComponent('%C3%A4%3F')",
    "$uppercase('ß') & $lowercase('Å')",
    "$formatNumber(1234.5, '#,##0.00')",
    "$formatInteger(1999, 'I')",
    "$formatBase(255, 16)",
    "$parseInteger('twelve', 'w')",
    "$fromMillis(0, '[FNn], [D1o] [MNn] [Y]')",
    "$toMillis('2026-03-04')",
    "$match('ab12', /[a-z]+(\\d+)/).groups",
    "$split('a, b', /,\\s*/)",
    "$replace('abc', /b/, function($m){ $uppercase($m.match) })",
    "$sort([3, 1, 2], function($l, $r){ $l < $r })",
    "$string({'a': [1, 1/3]}, true)",
    "$round(2.5) + $power(2, 0.5) + $sqrt(2)",
    "$zip([1, 2], [3, 4])",
    "$spread({'a': 1, 'b': 2})",
    "$reduce([1..5], function($a, $b){ $a * $b })",
    "$sift({'a': 1, 'b': 2}, function($v){ $v > 1 })",
    "$pad('x', -5, '#') & $substringBefore('a-b', '-')",
    "$average([1, 2]) & $max([1, 2]) & $distinct([1, 1])",
  ])("%s gives what JSONata gives in Node", async (expression) => {
    const given: unknown = await jsonata(expression).evaluate({});
    expect(given).toBeDefined();
    expect(await evaluate(expression)).toEqual(JSON.parse(JSON.stringify(given)));
  });

  test("time and randomness come from the facts", async () => {
    expect(await evaluate("$now()")).toBe("2026-03-04T05:06:07.000Z");
    expect(await evaluate("$millis()")).toBe(facts.now.getTime());
    expect(await evaluate("$random()")).toBe(await evaluate("$random()"));
    expect(await evaluate("$random()")).not.toBe(
      await evaluateExpression("$random()", {}, { ...facts, seed: "run-2" }),
    );
    expect(await evaluate("$shuffle([1..20])")).toEqual(await evaluate("$shuffle([1..20])"));
  });

  test.each([
    ["endless recursion", "($f := function($x){ $f($x + 1) + 1 }; $f(1))"],
    ["an endless tail call", "($f := function(){ $f() }; $f())"],
    ["a catastrophic regular expression", `$match("${"a".repeat(40)}b", /(a+)+$/)`],
    ["a doubling structure", "$string($reduce([1..60], function($a){[[$a],[$a]]}, 1))"],
    ["a doubling text", "$length($reduce([1..60], function($a){$a & $a}, 'xxxxxxxx'))"],
    ["a huge padding", "$length($pad('x', 400000000))"],
    ["a huge range", "$count([1..9999999])"],
    ["a nested endless regular expression by $eval", `$eval("$match('${"a".repeat(40)}b', /(a+)+$/)")`],
    ["a syntax error", "a ..b +"],
    ["a deep nest", `${"(".repeat(20_000)}1`],
    ["an expression that is too long", "1 + ".repeat(10_000)],
    ["an unknown function", "$fetch('x')"],
  ])("%s is stopped", async (_name, expression) => {
    const started = Date.now();
    await expect(evaluate(expression, {}, 150)).rejects.toThrow(ExpressionError);
    expect(Date.now() - started).toBeLessThan(20_000);
    expect(await evaluate("1 + 1")).toBe(2);
  });

  test("a result that is nested too deeply is rejected", async () => {
    const nest = (levels: number) => `$reduce([1..${levels}], function($list, $n){ [[$list]] })`;
    expect(await evaluate(nest(50))).toBeInstanceOf(Array);
    await expect(evaluate(nest(500))).rejects.toThrow("deeper than 200 levels");
  });

  test("one that takes all memory ends only its thread, soon after its deadline", async () => {
    const texts =
      "($text := $reduce([1..19], function($a, $b){ $a & $a }, 'ab'); $map([1..5000], function(){ $uppercase($text) }))";
    const started = Date.now();
    await expect(evaluate(texts, {}, 2000)).rejects.toThrow(ExpressionError);
    expect(Date.now() - started).toBeLessThan(20_000);
    expect(await evaluate("1 + 1")).toBe(2);
  });

  test("nothing leaks out of the sandbox or stays in it", async () => {
    expect(await evaluate("constructor.constructor('return process')()")).toBeUndefined();
    expect(await evaluate("a.constructor", { a: {} })).toBeUndefined();
    expect(await evaluate("a.__proto__", { a: {} })).toBeUndefined();
    await evaluate("$x := 5");
    expect(await evaluate("$x")).toBeUndefined();
    await evaluateExpression(
      "$merge([a, {'__proto__': {'polluted': true}}])",
      JSON.parse('{"a":{"__proto__":{"polluted":true}}}'),
      facts,
    );
    expect(await evaluate("{}.polluted")).toBeUndefined();
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

test("slow expressions of one organization block neither the process nor other organizations", async () => {
  const endless = "($f := function(){ $f() }; $f())";
  const of = (organizationId: string, expression: string, timeoutMs = 10_000) =>
    evaluateExpression(expression, {}, { ...facts, organizationId, timeoutMs });
  // Starts a thread for each of them.
  await Promise.all(["slow", "quick"].map((org) => of(org, "1 + 1", 10_000)));
  let ticks = 0;
  const ticking = setInterval(() => {
    ticks += 1;
  }, 10);
  let over = 0;
  const slow = Array.from({ length: 6 }, () =>
    of("slow", endless, 500).catch(() => {
      over += 1;
    }),
  );
  expect(await of("quick", "1 + 1")).toBe(2);
  expect(await of("quick", "2 + 2")).toBe(4);
  // Each of them takes 0.5 s, one after the other.
  expect(over).toBeLessThan(5);
  await Promise.all(slow);
  clearInterval(ticking);
  expect(over).toBe(6);
  expect(ticks).toBeGreaterThan(10);
});

test("nothing is evaluated after the signal", async () => {
  const signal = AbortSignal.abort(new Error("cancelled"));
  await expect(evaluateExpression("a", { a: 1 }, { ...facts, signal })).rejects.toThrow("cancelled");
});

describe("parseExpression", () => {
  test("returns the syntax tree, or the position of the error", async () => {
    expect(await parseExpression("steps.a", "org-1")).toMatchObject({ type: "path" });
    await expect(parseExpression("a +", "org-1")).rejects.toThrow(/Unexpected end|character/);
  });
});
