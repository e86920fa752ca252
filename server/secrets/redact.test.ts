import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "@/server/json";
import { storeable, storeableText } from "@/server/secrets/redact";

const MIB = 1024 * 1024;

test("keeps what fits as it is", () => {
  const value = { a: [1, null, true, "é"], b: { c: "" } };
  expect(storeable(value, { limitBytes: MIB })).toEqual({
    value,
    text: JSON.stringify(value),
    bytes: Buffer.byteLength(JSON.stringify(value)),
    cut: false,
  });
});

test("cuts what is too large to a preview, exactly beyond the limit", () => {
  expect(storeable("x".repeat(98), { limitBytes: 100 }).cut).toBe(false);
  const { value, cut } = storeable("x".repeat(99), { limitBytes: 100 });
  expect(cut).toBe(true);
  expect(value).toEqual({ truncated: true, bytes: 101, preview: "x".repeat(99) });
  const large = storeable({ list: Array(MIB).fill(7) }, { limitBytes: MIB });
  expect(large.value).toMatchObject({ truncated: true, bytes: large.bytes });
  expect(large.text.length).toBeLessThan(6000);
});

test("replaces U+0000 and half characters, in keys too", () => {
  const { value } = storeable({ "a\u0000": "b\u0000\ud800c" }, { limitBytes: MIB });
  expect(value).toEqual({ "a\ufffd": "b\ufffd\ufffdc" });
});

test("blots out secrets, the longer ones first, and leaves short ones", () => {
  const secrets = ["hunter22", "hunter22-long", "abc"];
  const { value } = storeable({ "x hunter22": ["hunter22-long!", "abc"] }, { limitBytes: MIB, secrets });
  expect(value).toEqual({ "x [redacted]": ["[redacted]!", "abc"] });
  expect(storeableText("key hunter22 wrong", 100, secrets)).toBe("key [redacted] wrong");
});

test("a nest is cut off, and a key named __proto__ stays data", () => {
  let nest: Json = 1;
  for (let i = 0; i < 5000; i += 1) nest = [nest];
  expect(() => JSON.parse(storeable(nest, { limitBytes: MIB }).text)).not.toThrow();
  const { text } = storeable(JSON.parse('{"__proto__":{"x":1}}'), { limitBytes: MIB });
  expect(text).toBe('{"__proto__":{"x":1}}');
});

test("whatever comes in, the text is JSON of the value and a second time changes nothing", () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ stringUnit: "binary" }),
      fc.integer({ min: 0, max: 200 }),
      (generated, limitBytes) => {
        const value: Json = JSON.parse(JSON.stringify(generated));
        const once = storeable(value, { limitBytes: limitBytes + 20_000 });
        expect(JSON.parse(once.text)).toEqual(once.value);
        expect(once.text).not.toContain("\\u0000");
        expect(storeable(once.value, { limitBytes: limitBytes + 20_000 }).text).toBe(once.text);
      },
    ),
  );
});

test("long texts are cut to their length", () => {
  expect(storeableText("abcdef", 4)).toBe("abc…");
  expect(storeableText("abcd", 4)).toBe("abcd");
});
