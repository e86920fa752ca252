import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "@/server/base/json/json";
import { createRedactor } from "@/server/guard/secrets/redact";
import { replaceNul, replaceSurrogates, storeOutput } from "@/server/guard/secrets/stored-output";

const MIB = 1024 * 1024;

const redactor = (secrets: string[]) =>
  createRedactor(secrets.map((value) => ({ value, mark: "[redacted]" })));

async function store(output: Json, secrets?: string[]): Promise<string> {
  const stored = await storeOutput(output, { overflow: "cut" }, secrets && redactor(secrets));
  if ("error" in stored) throw new Error(stored.error);
  return stored.text;
}

test("keeps an output that fits", async () => {
  const value = { a: [1, null, true, "é"], b: { c: "" } };
  expect(await store(value)).toBe(JSON.stringify(value));
});

test("cuts or rejects outputs above 1 MiB of JSON, and no smaller ones", async () => {
  expect(await store("x".repeat(MIB - 2))).toHaveLength(MIB);
  const large = "x".repeat(MIB - 1);
  expect(JSON.parse(await store(large))).toEqual({
    truncated: true,
    bytes: MIB + 1,
    preview: `"${"x".repeat(4095)}`,
  });
  expect(await storeOutput(large, { overflow: "reject" })).toEqual({
    error: "The output is larger than 1 MiB.",
  });
  expect(JSON.parse(await store(`x${"😀".repeat(MIB)}`)).preview.isWellFormed()).toBe(true);
});

test("replaces U+0000 and unpaired surrogates, in keys too", async () => {
  expect(JSON.parse(await store({ "a\0": "b\0\ud800c" }))).toEqual({ "a\ufffd": "b\ufffd\ufffdc" });
  expect(replaceNul("a\0\udc00")).toBe("a\ufffd\ufffd");
});

test.each(["\ud800", "\udc00\ud800", "😀", "\\ud800", "\\\ud800\\\\udc00", "\\".repeat(7), "\uabcd"])(
  "replaces unpaired surrogates in the JSON text of %j",
  (text) => {
    expect(replaceSurrogates(JSON.stringify({ [text]: [text] }))).toBe(
      JSON.stringify({ [text.toWellFormed()]: [text.toWellFormed()] }),
    );
  },
);

test("redacts secrets, longer ones first, and leaves short ones", async () => {
  const secrets = ["hunter22", "hunter22-long", "abc"];
  expect(JSON.parse(await store({ "x hunter22": ["hunter22-long!", "abc"] }, secrets))).toEqual({
    "x [redacted]": ["[redacted]!", "abc"],
  });
  expect(JSON.parse(await store([20261122, 20261123, 1.5], ["20261122"]))).toEqual([
    "[redacted]",
    20261123,
    1.5,
  ]);
  expect(redactor(secrets).redact("key hunter22 wrong")).toBe("key [redacted] wrong");
});

test("cuts deep nesting, and keeps a key named __proto__ as data", async () => {
  let nest: Json = 1;
  for (let i = 0; i < 5000; i += 1) nest = [nest];
  expect(await store(nest)).toBe(`${"[".repeat(200)}"…"${"]".repeat(200)}`);
  expect(await store(JSON.parse('{"__proto__":{"x":1}}'))).toBe('{"__proto__":{"x":1}}');
});

test("always stores JSON, and storing it again changes nothing", async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ stringUnit: "binary" }), async (generated) => {
      const value: Json = JSON.parse(JSON.stringify(generated));
      const text = await store(value);
      expect(text).not.toContain("\\u0000");
      expect(await store(JSON.parse(text))).toBe(text);
    }),
  );
});
