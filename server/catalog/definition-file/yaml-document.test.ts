import { expect, test } from "vitest";
import { writeJson } from "@/server/base/json/json";
import { createYaml } from "./write-yaml";
import { readYaml as readYamlOf } from "./yaml-document";

const readYaml = (text: string, parts = Number.POSITIVE_INFINITY) =>
  readYamlOf(text, "a", { parts, weight: 16 * 1024 * 1024, timeoutMs: 120_000 });

const keys = (count: number) => Array.from({ length: count }, (_, n) => `k${n}: 1\n`).join("");

test("a map with very many keys takes no quadratic time", async () => {
  const read = await readYaml(keys(100_000));
  expect("value" in read && Object.keys(read.value ?? {}).length).toBe(100_000);
});

test("repeated keys are issues with their lines, in nested maps and of any spelling", async () => {
  const twice = (key: string) => `The key "${key}" appears twice.`;
  expect(await readYaml("a: 1\nb: { c: 1, c: 2 }\n'a': 3\n")).toEqual({
    issues: [
      { line: 3, column: 1, message: twice("a") },
      { line: 2, column: 12, message: twice("c") },
    ],
  });
  expect(await readYaml(`${keys(3)}${"k0: 2\n".repeat(100_000)}`)).toEqual({
    issues: [4, 5, 6, 7, 8].map((line) => ({ line, column: 1, message: twice("k0") })),
  });
});

test("maps are merged, and keys that begin with x- only hold what others refer to", async () => {
  const text = `\ufeffx-common: &common { retries: 2, seconds: 5 }
list:
  - { <<: *common, seconds: 9 }
  - { <<: [{ a: 1 }, *common], x-note: kept }
  - "<<"
`;
  expect(await readYaml(text)).toMatchObject({
    value: {
      list: [{ retries: 2, seconds: 9 }, { a: 1, retries: 2, seconds: 5, "x-note": "kept" }, "<<"],
    },
  });
  const read = await readYaml(text);
  expect("value" in read && Object.keys(read.value ?? {})).toEqual(["list"]);
  expect(
    "value" in read && [read.lineAt(["list", 0, "seconds"]), read.lineAt(["list", 0, "retries"])],
  ).toEqual([3, 3]);
});

test("merged maps count as what they expand to", async () => {
  const levels = Array.from(
    { length: 30 },
    (_, n) => `l${n}: &l${n} { a: ${n ? `[*l${n - 1}, *l${n - 1}]` : 1} }\n`,
  );
  expect(await readYaml(levels.join(""))).toHaveProperty("issues");
  const merged = Array.from(
    { length: 30 },
    (_, n) => `l${n}: &l${n} { <<: ${n ? `[*l${n - 1}, *l${n - 1}]` : "{}"} }\n`,
  );
  const startedAt = performance.now();
  await readYaml(merged.join(""));
  expect(performance.now() - startedAt).toBeLessThan(30_000);
});

const UNMERGED =
  'The value of << must be a map, an alias of one, or a list of them. Write "<<" for a key of this name.';

test.each([
  ["a: 1\nb: {{ x }}\n", 2, 5, 'A value that begins with {{ needs quotes, such as "{{ input.name }}".'],
  ["a:\n  - {{x}}-y\n", 2, 6, 'A value that begins with {{ needs quotes, such as "{{ input.name }}".'],
  ["a: Service: Orders\n", 1, 4, "A value that contains a colon before a space needs quotes."],
  ["a: 1\n---\nb: 2\n", 2, 1, "The text has several documents, but only one is allowed."],
])("%j is rejected with the way out (kislyuk/yq#115)", async (text, line, column, message) => {
  expect(await readYaml(text)).toEqual({ issues: [{ line, column, message }] });
});

test.each([
  ["no map", "a: 1\nb: { <<: 1 }", 2, 10, UNMERGED],
  ["nothing", "a:\n  <<:\n  b: 1", 2, 6, UNMERGED],
  ["an alias of a list", "x-a: &a [1]\nb:\n  <<: *a", 3, 7, UNMERGED],
  ["a list with a text", "x-a: &a { b: 1 }\nc:\n  <<: [*a, d]", 3, 12, UNMERGED],
  ["an anchor in the same list", "c:\n  <<: [&a { b: 1 }, *a, 1]", 2, 25, UNMERGED],
  ["no anchor", "a:\n  <<: *b", 2, 7, "There is no &b before *b."],
  ["an anchor that comes later", "a: [1, *b]\nb: &b 1", 1, 8, "There is no &b before *b."],
])("an alias or << has its place: %s", async (_what, text, line, column, message) => {
  expect(await readYaml(text)).toEqual({ issues: [{ line, column, message }] });
});

test.each(["0755", "-007", "00", "08.50", "+4930123456", "0x52908400098527886E0F7030069857D2E4169EE7"])(
  "the number %s means a text (wireviz/WireViz#213)",
  async (digits) => {
    const message = `YAML reads ${digits} as a number. Write "${digits}" in quotes.`;
    expect(await readYaml(`a: 1\nb: [x, ${digits}]`)).toEqual({ issues: [{ line: 2, column: 8, message }] });
    expect(await readYaml(`a: "${digits}"\n${digits}: 1`)).toMatchObject({
      value: { a: digits, [digits]: 1 },
    });
  },
);

test("other numbers and texts with zeros are read", async () => {
  const value = [0, 0.5, 0.5, 10, 1000, 31, 2026, "2026-01-05", "0755a", "1.0.0"];
  const text = "[0, 0.5, .5, 10, 1e3, 0x1F, 2026, 2026-01-05, 0755a, 1.0.0]";
  expect(await readYaml(text)).toMatchObject({ value });
});

test("a key << is written so that it is read again", async () => {
  const value = { "<<": 1, k: "<<" };
  expect(await readYaml(createYaml(value).toString())).toMatchObject({ value });
});

test.each(["[", "{a: ", "- ", "? ", "{? "])("a nest of %s is rejected, however deep", async (opening) => {
  const message = "The document nests deeper than 100 levels.";
  expect(await readYaml(`a:\n  ${opening.repeat(200_000)}`)).toMatchObject({ issues: [{ message }] });
});

test("a text with too many parts is rejected where they exceed the limit", async () => {
  const message = "The text has more than 1000 words and marks.";
  expect(await readYaml(keys(1_000), 1_000)).toEqual({
    issues: [{ line: 143, column: 8, message }],
  });
  expect(await readYaml(keys(100), 1_000)).toHaveProperty("value");
});

test("the numbers of YAML 1.1 are read beside one that a double cannot hold", async () => {
  const text =
    "%YAML 1.1\n---\nid: 8202522731445525542\nnumbers: [1_000, 0b11, -0b11, 0x1F_FF, 1:30, 8_202_522_731_445_525_542]\n";
  const read = await readYaml(text);
  expect("value" in read ? writeJson(read.value) : read).toBe(
    '{"id":8202522731445525542,"numbers":[1000,3,-3,8191,90,8202522731445525542]}',
  );
});

test("numbers that a double cannot hold keep their digits, also behind aliases, and are written again", async () => {
  const text = `plain: 12
id: &id 8202522731445525542
same: *id
price: .12345678901234567891
signed: -1234567890123456789
hex: 0x1FFFFFFFFFFFFFFF
text: "8202522731445525542"
8202522731445525542: 1
`;
  const read = await readYaml(text);
  if (!("value" in read)) throw new Error("issues");
  const id = "8202522731445525542";
  expect(writeJson(read.value)).toBe(
    `{"plain":12,"id":${id},"same":${id},"price":0.12345678901234567891,"signed":-1234567890123456789,` +
      `"hex":2305843009213693951,"text":"${id}","${id}":1}`,
  );
  const again = await readYaml(createYaml(read.value).toString());
  expect("value" in again && writeJson(again.value)).toBe(writeJson(read.value));
});
