import fc from "fast-check";
import { expect, test } from "vitest";
import { ExactNumber, quoteExact } from "./exact-number";
import { type Json, markJson, readJson, writeJson } from "./json";
import { parseLargeJson, readLargeJson, stringifyLarge } from "./large";
import { canonicalText, parseJson } from "./text";

const EXACT = [
  "8202522731445525542",
  "-9007199254740993",
  "9223372036854775807",
  "0.12345678901234567891",
  "12345678901234567890e-30",
  "1.5e-400",
  "1E-4000",
  "5e-324".replace("5", "5.5"),
  "1234567890123456.78",
];

test.each(EXACT)("%s keeps its digits", (digits) => {
  for (const text of [digits, `[${digits},1]`, `{"a":{"b":[${digits}]},"__proto__":${digits}}`]) {
    expect(writeJson(readJson(text))).toBe(text);
    expect(canonicalText(parseJson(text))).toHaveLength(text.length);
  }
  expect(readJson(digits)).toEqual(new ExactNumber(digits));
  expect(writeJson(readJson(`[${digits}]`), 2)).toBe(`[\n  ${digits}\n]`);
  expect(quoteExact(`{"${digits}":${digits}}`)).toBe(`{"${digits}":"${digits}"}`);
});

test.each([
  ...[
    "0",
    "-0",
    "0.1",
    "1.10",
    "1e21",
    "123456789012345680000",
    "9007199254740991",
    "1000000000000000000000",
  ],
  ...[
    "0.1000000000000000000000",
    "1e-300",
    "5e-324",
    "0e-999",
    "0.00000000000000000000",
    "-1.7976931348623157e308",
  ],
])("%s is a number as before", (digits) => {
  expect(readJson(digits)).toBe(JSON.parse(digits));
});

test("what is a double takes the native way, and every text is read like by JSON.parse but for digits", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), (text) => {
      expect(readJson(text)).toEqual(JSON.parse(text));
      expect(writeJson(readJson(text))).toBe(JSON.stringify(JSON.parse(text)));
    }),
  );
  const number = fc
    .tuple(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.nat(30), fc.integer({ min: -20, max: 20 }))
    .map(([whole, fraction, exponent]) => `${whole}.${fraction}e${exponent}`);
  fc.assert(
    fc.property(number, (digits) => {
      const value = readJson(digits);
      expect(Number(String(value))).toBe(Number(digits));
      if (value instanceof ExactNumber) expect(value.text).toBe(digits);
    }),
  );
});

test("every such number is found, wherever it is in a text", () => {
  for (const digits of EXACT) {
    for (let before = 0; before < 40; before += 1) {
      const text = `[${" ".repeat(before)}${digits},"${"x".repeat(before)}"]`;
      expect(quoteExact(text)).toBe(text.replace(digits, `"${digits}"`));
    }
  }
});

test("digits in texts and in keys are texts, and cannot pretend to be numbers", () => {
  const text = `{"${EXACT[0]}":"${EXACT[0]}\\"${EXACT[1]}","a\\\\":"\\\\","b":${EXACT[2]}}`;
  expect(writeJson(readJson(text))).toBe(text);
  for (const malformed of [`{${EXACT[0]}:1}`, `0${EXACT[0]}`, `${EXACT[0]}.`, `[${EXACT[0]}`, `-`])
    expect(() => readJson(malformed)).toThrow(SyntaxError);
});

test("code that ignores them fails", () => {
  const value = readJson(`{"id":${EXACT[0]}}`);
  expect(() => JSON.stringify(value)).toThrow("Use writeJson");
  expect(() => structuredClone(value)).toThrow("could not be cloned");
  expect(JSON.stringify(markJson(value))).not.toContain(`:${EXACT[0]}`);
});

test("large documents keep them", async () => {
  const item = `{"id":${EXACT[0]},"price":${EXACT[3]},"name":"lamp"}`;
  const text = `{"items":[${Array(5_000).fill(item).join(",")}],"id":${EXACT[1]}}`;
  const value = await parseLargeJson(text);
  expect(await stringifyLarge(value)).toBe(text);
  const changed: Json = { again: await readLargeJson(text) };
  expect(await stringifyLarge(changed)).toBe(`{"again":${text}}`);
  await expect(parseLargeJson(`[${item},${item.repeat(500)}]`)).rejects.toThrow();
  await expect(parseLargeJson(`[1e400,${item}]`)).rejects.toThrow("too large");
});

test("a megabyte of such numbers is read and written in linear time", () => {
  const text = `[${Array(50_000).fill(EXACT[0]).join(",")}]`;
  const digits = `[0.${"1234567890".repeat(100_000)}]`;
  const before = process.cpuUsage();
  for (const each of [text, digits]) expect(writeJson(readJson(each)) === each).toBe(true);
  expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
});
