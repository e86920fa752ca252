import fc from "fast-check";
import { expect, test } from "vitest";
import { writeJson } from "./json";
import { findRepeatedKey } from "./large";
import { describeRepeatedKey, readTypedJson, typedJsonIssue } from "./repeated-key";

test.each([
  ['{"a":1,"a":2}', ["a"], 'The key "a" appears twice.'],
  ['{"user":{"a":{},"b":[1],"a":[]}}', ["user", "a"], 'The key "a" appears twice in user.'],
  ['[[],{"x":[0,{"é":1,"\\u00e9":2}]}]', [1, "x", 1, "é"], 'The key "é" appears twice in [1].x[1].'],
  ['{"":{"__proto__":1,"__proto__":2}}', ["", "__proto__"], 'The key "__proto__" appears twice.'],
  [' { "a" : "}" , "b\\"" : "{" , "b\\"":0 } ', ['b"'], 'The key "b\\"" appears twice.'],
  ['{"\\u0000":1,"\\u0000":2}', ["\0"], 'The key "\uFFFD" appears twice.'],
])("finds the key in %s", async (text, path, message) => {
  const found = await findRepeatedKey(text);
  expect(found).toEqual({ path, key: path.at(-1) });
  expect(found && describeRepeatedKey(found)).toBe(message);
  expect(typedJsonIssue(text)).toBe(message);
  expect(() => readTypedJson(text)).toThrow(message);
});

test.each([
  '{"a":{"a":{"a":1}},"b":{"a":1}}',
  '[{"a":1},{"a":1}]',
  '{"a":"a","b":"a","c":["a","a","b"]}',
  '{"a":"\\"a\\":1,","A":1}',
  '"a"',
  "{}",
  "{",
])("finds none in %s", async (text) => {
  expect(await findRepeatedKey(text)).toBeNull();
  expect(typedJsonIssue(text)).toBeUndefined();
});

test("a number that would be sent as null is an issue", () => {
  for (const text of ["1e999", '{"a":[-1e999]}']) {
    expect(() => readTypedJson(text)).toThrow("too large");
    expect(typedJsonIssue(text)).toContain("too large");
  }
  expect(readTypedJson("1e308")).toBe(1e308);
});

test("a long key is shortened", () => {
  const key = "😀".repeat(100);
  expect(describeRepeatedKey({ path: [key, key], key })).toMatch(/^.{200,240}\.$/);
});

const members = (levels: number): fc.Arbitrary<unknown> => {
  const leaf = fc.oneof(fc.integer(), fc.string(), fc.constant(null));
  return levels === 0
    ? leaf
    : fc.oneof(leaf, fc.array(members(levels - 1)), fc.dictionary(fc.string(), members(levels - 1)));
};

test("written values have none; with a member twice there is one", async () => {
  await fc.assert(
    fc.asyncProperty(members(3), fc.string(), async (value, key) => {
      expect(await findRepeatedKey(writeJson(value))).toBeNull();
      const twice = `[${writeJson(value)},{${JSON.stringify(key)}:1,${JSON.stringify(key)}:${writeJson(value)}}]`;
      expect(await findRepeatedKey(twice)).toEqual({ path: [1, key], key });
    }),
  );
});

test("other work gets its turns while a long text is searched", async () => {
  const text = `{${Array.from({ length: 100_000 }, (_, n) => `"key-${n}":1`).join(",")},"key-7":2}`;
  let turns = 0;
  let working = true;
  const count = () => {
    turns += 1;
    if (working) setImmediate(count);
  };
  setImmediate(count);
  const found = await Promise.all(Array.from({ length: 4 }, () => findRepeatedKey(text)));
  working = false;
  expect(found.map((each) => each?.key)).toEqual(Array(4).fill("key-7"));
  // At once, there would be a turn or two.
  expect(turns).toBeGreaterThan(5);
});
