import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "./json";
import { canonicalText, JsonTextError, jsonPointer, MAX_JSON_DEPTH, parseJson } from "./text";

test("parses JSON up to 200 levels, not counting brackets in texts", () => {
  const nest = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  expect(parseJson('{"a":"[[[[\\"[[["}')).toEqual({ a: '[[[["[[[' });
  expect(parseJson(nest(MAX_JSON_DEPTH))).toBeDefined();
  expect(() => parseJson(nest(MAX_JSON_DEPTH + 1))).toThrow(JsonTextError);
  expect(() => parseJson("[".repeat(1_000_000))).toThrow(JsonTextError);
  expect(() => parseJson("{a}")).toThrow(JsonTextError);
});

test.each(["1e309", '{"a":[1,{"b":-1E+0400}]}', "9".repeat(400), `${"9".repeat(250)}e99`])(
  "%s is rejected: it would be stored as null",
  (text) => {
    expect(() => parseJson(text)).toThrow("too large");
  },
);

test("numbers up to the largest double are taken, and texts that look like larger ones", () => {
  for (const text of ["1.7e308", "-1e308", '"1e999"', "123456789012345680000"]) {
    expect(parseJson(text)).toBe(JSON.parse(text));
  }
});

test("megabytes of digits are parsed in linear time", () => {
  const text = JSON.stringify(`${"1".repeat(199)} `.repeat(25_000));
  const before = process.cpuUsage();
  parseJson(text);
  expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
});

test("a key named __proto__ stays data", () => {
  const value = parseJson('{"__proto__":{"x":1}}');
  expect(canonicalText(value)).toBe('{"__proto__":{"x":1}}');
  expect(({} as Record<string, unknown>).x).toBeUndefined();
});

test("equal values have the same canonical text, whatever the order of their keys", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (generated) => {
      const value: Json = JSON.parse(JSON.stringify(generated));
      const text = canonicalText(value);
      expect(JSON.parse(text)).toEqual(value);
      expect(canonicalText(reversed(value))).toBe(text);
    }),
  );
});

function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  );
}

test("JSON pointers escape ~ and /", () => {
  expect(jsonPointer([])).toBe("");
  expect(jsonPointer(["a/b", 0, "~"])).toBe("/a~1b/0/~0");
});
