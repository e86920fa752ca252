import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "@/server/json";
import { redactText, replaceNul, storeOutput } from "@/server/secrets/stored-output";

const MIB = 1024 * 1024;

/** The stored text of an output that is cut when it is too large. */
function store(output: Json, secrets?: string[]): string {
  const stored = storeOutput(output, "cut", secrets);
  if ("error" in stored) throw new Error(stored.error);
  return stored.text;
}

test("keeps an output that fits", () => {
  const value = { a: [1, null, true, "é"], b: { c: "" } };
  expect(store(value)).toBe(JSON.stringify(value));
});

test("cuts or refuses what is larger than 1 MiB of JSON, and nothing smaller", () => {
  expect(store("x".repeat(MIB - 2))).toHaveLength(MIB);
  const large = "x".repeat(MIB - 1);
  expect(JSON.parse(store(large))).toEqual({
    truncated: true,
    bytes: MIB + 1,
    preview: `"${"x".repeat(4095)}`,
  });
  expect(storeOutput(large, "refuse")).toEqual({ error: expect.stringContaining(`${MIB + 1} bytes`) });
  expect(JSON.parse(store(`x${"😀".repeat(MIB)}`)).preview.isWellFormed()).toBe(true);
});

test("replaces U+0000 and halves of characters, in keys too", () => {
  expect(JSON.parse(store({ "a\0": "b\0\ud800c" }))).toEqual({ "a\ufffd": "b\ufffd\ufffdc" });
  expect(replaceNul("a\0\udc00")).toBe("a\ufffd\ufffd");
});

test("redacts secrets, longer ones first, and leaves short ones", () => {
  const secrets = ["hunter22", "hunter22-long", "abc"];
  expect(JSON.parse(store({ "x hunter22": ["hunter22-long!", "abc"] }, secrets))).toEqual({
    "x [redacted]": ["[redacted]!", "abc"],
  });
  expect(redactText("key hunter22 wrong", secrets)).toBe("key [redacted] wrong");
});

test("cuts deep nesting, and keeps a key named __proto__ as data", () => {
  let nest: Json = 1;
  for (let i = 0; i < 5000; i += 1) nest = [nest];
  expect(store(nest)).toBe(`${"[".repeat(200)}"…"${"]".repeat(200)}`);
  expect(store(JSON.parse('{"__proto__":{"x":1}}'))).toBe('{"__proto__":{"x":1}}');
});

test("always stores JSON, and storing it again changes nothing", () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "binary" }), (generated) => {
      const value: Json = JSON.parse(JSON.stringify(generated));
      const text = store(value);
      expect(text).not.toContain("\\u0000");
      expect(store(JSON.parse(text))).toBe(text);
    }),
  );
});

describe("a secret that comes back encoded", () => {
  const secret = 'Tr0ub4dor&3/+="é~?>';
  const other = "sk-proj-abcdefghijklmnop";

  test.each<[string, (text: string) => string]>([
    ["in base64", (text) => Buffer.from(text).toString("base64")],
    ["in base64url", (text) => Buffer.from(text).toString("base64url")],
    ["in base64 behind one byte", (text) => Buffer.from(`x${text}`).toString("base64")],
    ["in base64 behind two bytes", (text) => Buffer.from(`xy${text}z`).toString("base64")],
    ["in base64 as credentials", (text) => Buffer.from(`user:${text}`).toString("base64")],
    ["in hexadecimal", (text) => Buffer.from(text).toString("hex")],
    ["in hexadecimal capitals", (text) => Buffer.from(text).toString("hex").toUpperCase()],
    ["URL-encoded", encodeURIComponent],
    [
      "URL-encoded in small letters",
      (text) => encodeURIComponent(text).replace(/%../g, (each) => each.toLowerCase()),
    ],
    ["as a form's value", (text) => new URLSearchParams({ a: text }).toString().slice(2)],
    ["URL-encoded byte by byte", (text) => Buffer.from(text).toString("hex").replace(/../g, "%$&")],
    ["within JSON", (text) => JSON.stringify({ key: text })],
  ])("%s is redacted", (_name, encode) => {
    for (const each of [secret, other]) {
      const echoed = encode(each);
      const cleaned = redactText(`Wrong key <${echoed}>.`, [secret, other]);
      expect(cleaned).toContain("[redacted]");
      // What is left beside it are the neighbours' characters, three at most on each side.
      expect(cleaned.length).toBeLessThan("Wrong key <[redacted]>.".length + 12);
      expect(cleaned).toMatch(/^Wrong key <.*>\.$/);
    }
  });

  test("keeps text that only looks like it", () => {
    const text = `${Buffer.from("sk-proj-other").toString("base64")} ${Buffer.from("another").toString("hex")}`;
    expect(redactText(text, [secret, other])).toBe(text);
  });
});
