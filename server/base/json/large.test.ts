import { describe, expect, test, vi } from "vitest";
import { isJsonObject, type Json, keysOf, objectOf } from "./json";
import { mapLarge, parseLargeJson, readLargeJson, stringifyLarge } from "./large";
import { isSmall } from "./small";
import { parseJson } from "./text";

const KIB = 1024;

function fill(member: (index: number) => string, [open, close]: [string, string], size = 128 * KIB): string {
  const members: string[] = [];
  let length = open.length + close.length;
  for (let index = 0; ; index += 1) {
    const text = member(index);
    length += text.length + 1;
    if (length > size) return open + members.join(",") + close;
    members.push(text);
  }
}

const LARGE: Record<string, string> = {
  numbers: fill((n) => String(n), ["[", "]"]),
  keys: fill((n) => `"key-${n}":1`, ["{", "}"]),
  "integer keys": fill((n) => `"${(n * 7919) % 100_003}":${n}`, ["{", "}"]),
  "repeated keys": fill((n) => `"k${n % 5_000}":${n}`, ['{"inner":{', "}}"]),
  empties: fill(() => "{}", ['{"a":[', "]}"]),
  records: fill((n) => `{"id":${n},"tags":["a","b"],"text":"x\\"\\\\${n}"}`, [' {"a" : [', "] } "]),
  "long items": fill((n) => `["${"y".repeat(30_000)}", {"deep":[${n}]}]`, ["[", "]"]),
  "a long text": JSON.stringify({ a: `${'\\" ,[]{}'.repeat(10_000)}`, b: 1 }),
  nested: `${"[".repeat(150)}${fill((n) => `"${n}"`, ["[", "]"])}${"]".repeat(150)}`,
  "an own __proto__": fill((n) => `"__proto__":{"a":${n}},"k${n}":"v"`, ["{", "}"]),
  blanks: `[${" ".repeat(30_000)}]`,
};

const INDEXED = fill(
  (n) => `"${(n * 7919) % 100_003}":${n},"n${n}":1,"0${n}":2,"${4_294_967_290 + n}":3`,
  ["{", "}"],
);

test("the keys of a long object are known in JavaScript's order", async () => {
  const parsed = await parseLargeJson(INDEXED);
  if (!isJsonObject(parsed)) throw new Error("not an object");
  expect(keysOf(parsed)).toEqual(Object.keys(JSON.parse(INDEXED)));
  expect(keysOf(parsed)).toBe(keysOf(parsed));
});

test.each([
  [
    "taken apart and made again",
    async (value: Json) =>
      mapLarge(value, { part: copy, long: async (text) => text, key: (key) => key, depth: 200 }),
  ],
  ["parsed in parts", async (value: Json) => parseLargeJson(JSON.stringify(value))],
])("objects whose keys are indexes take no more memory when they are %s", async (_how, change) => {
  const value: Json = JSON.parse(`[${'{"1000":1},'.repeat(20_000)}0]`);
  const before = process.memoryUsage().heapUsed;
  const made = await change(value);
  // 12 KB each are 240 MB.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(80 * 1024 * KIB);
  expect(JSON.stringify(made)).toBe(JSON.stringify(value));
});

const copy = (value: Json): Json =>
  Array.isArray(value) ? value.map(copy) : isJsonObject(value) ? objectOf(Object.entries(value)) : value;

describe.each(Object.entries(LARGE).map(([name, text]) => ({ name, text })))("$name", ({ text }) => {
  test("are parsed and written as by JSON", async () => {
    const value: Json = JSON.parse(text);
    const parsed = await parseLargeJson(text);
    expect(JSON.stringify(parsed)).toBe(JSON.stringify(value));
    expect(await stringifyLarge(value)).toBe(JSON.stringify(value));
    expect(JSON.stringify(await readLargeJson(text))).toBe(JSON.stringify(value));
  });

  test("are changed part by part", async () => {
    const value: Json = JSON.parse(text);
    const map = {
      part: (part: Json) => part,
      long: async (text: string) => text,
      key: (key: string) => key,
      depth: 200,
    };
    expect(JSON.stringify(await mapLarge(value, map))).toBe(JSON.stringify(value));
  });

  test("are never parsed from a damaged text", async () => {
    let state = 7;
    const random = (limit: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      return state % limit;
    };
    for (let trial = 0; trial < 6; trial += 1) {
      const at = random(text.length);
      const damaged = text.slice(0, at) + ('[]{},:"x '[random(9)] ?? "") + text.slice(at + random(3));
      const expected = await outcome(async () => parseJson(damaged));
      expect(await outcome(() => parseLargeJson(damaged))).toBe(expected);
    }
  });
});

async function outcome(parse: () => Promise<Json>): Promise<string> {
  try {
    return JSON.stringify(await parse());
  } catch {
    return "rejected";
  }
}

test.each([
  ["trailing commas", `[${"1,".repeat(20_000)}]`],
  ["missing members", `[1,${"2,".repeat(20_000)},3]`],
  ["two documents", `[${"1,".repeat(20_000)}1] [1]`],
  ["brackets of different kinds", `{"a":[${"1,".repeat(20_000)}1}}`],
  ["an open string", `["${"a".repeat(40_000)}`],
  ["a container as key", `{"a":1,[${"1,".repeat(20_000)}1]:2}`],
  ["a member without key", `{"a":1,"b" [${"1,".repeat(20_000)}1]}`],
  ["too deep a nest", `${"[".repeat(201)}${"1,".repeat(20_000)}1${"]".repeat(201)}`],
  ["an infinite number", `[${"1,".repeat(20_000)}1e999]`],
])("rejects %s", async (_name, text) => {
  await expect(parseLargeJson(text)).rejects.toMatchObject({ name: "JsonTextError" });
});

test("each long text takes a turn of its own, also of values that are written at the same time", async () => {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const responses = Array.from({ length: 20 }, () => ({ status: 200, body: "x".repeat(200_000) }));
  await Promise.all(responses.map((response) => stringifyLarge(response)));
  isOver = true;
  expect(turns).toBeGreaterThanOrEqual(20);
});

test("other work gets its turns meanwhile, however much large JSON there is", async () => {
  const text = fill((n) => `"key-${n}":1`, ["{", "}"], 1024 * KIB);
  let turns = 0;
  let working = true;
  const count = () => {
    turns += 1;
    if (working) setImmediate(count);
  };
  setImmediate(count);
  const values = await Promise.all(Array.from({ length: 4 }, () => parseLargeJson(text)));
  const parsing = turns;
  await Promise.all(values.map(stringifyLarge));
  working = false;
  // At once, there would be a turn or two.
  expect(parsing).toBeGreaterThan(5);
  expect(turns - parsing).toBeGreaterThan(5);
});

test("members without a value are left out, as by JSON.stringify", async () => {
  const members = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`k${n}`, n]));
  const value = Object.assign(members, { gone: undefined });
  expect(await stringifyLarge(value)).toBe(JSON.stringify(value));
});

test.each(["keys", "an own __proto__"])("the keys of %s are not listed at once", async (name) => {
  const listed = [vi.spyOn(Object, "keys"), vi.spyOn(Object, "entries")];
  try {
    const parsed = await parseLargeJson(LARGE[name] ?? "");
    const changed = await mapLarge(parsed, {
      part: (part) => part,
      long: async (text) => text,
      key: (key) => `${key}!`,
      depth: 200,
    });
    const text = await stringifyLarge(changed);
    expect(isSmall({ inner: changed })).toBe(false);
    const longest = listed.flatMap((spy) => spy.mock.results.map(({ value }) => value.length));
    expect(Math.max(...longest)).toBeLessThan(3_000);
    expect(Object.keys(JSON.parse(text))).toEqual(
      Object.keys(JSON.parse(LARGE[name] ?? "")).map((key) => `${key}!`),
    );
  } finally {
    for (const spy of listed) spy.mockRestore();
  }
});
