import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compactJson, readableText } from "./spacing";

describe("JSON by lines", () => {
  test("matches JSON.stringify", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const compact = JSON.stringify([value]);
        expect(readableText(compact)).toBe(JSON.stringify([value], null, 2));
        expect(compactJson(readableText(compact))).toBe(compact);
      }),
    );
  });

  test("keeps every digit and the order of names", () => {
    const text = '{"2":12345678901234567890,"1":[1.0,-0,1e400,{}, []],"2":"\\u00e9\\/"}';
    expect(readableText(text)).toBe(
      '{\n  "2": 12345678901234567890,\n  "1": [\n    1.0,\n    -0,\n    1e400,\n    {},\n    []\n  ],\n  "2": "\\u00e9\\/"\n}',
    );
    expect(compactJson(readableText(text))).toBe(text.replaceAll(" ", ""));
  });

  test("formats the start of a document, wherever it is cut", () => {
    const complete = '{"a": ["x\\" y", {"b": null}], "c": "d"}';
    for (let end = 0; end <= complete.length; end += 1) {
      const start = complete.slice(0, end);
      const unspaced = (text: string) => text.replaceAll(/\s/g, "");
      expect(unspaced(readableText(start, true))).toBe(unspaced(start));
    }
  });

  test("formats megabytes in one string and in many", () => {
    const one = ["x\\".repeat(2_000_000)];
    const many = Array.from({ length: 100_000 }, (_, n) => ({ n }));
    for (const value of [one, many]) {
      expect(readableText(JSON.stringify(value)) === JSON.stringify(value, null, 2)).toBe(true);
    }
  });

  test("leaves text that is not JSON unchanged", () => {
    for (const text of ["[a link](https://x.test), {and} so", "", "It is, well: 4"]) {
      expect(readableText(text)).toBe(text);
      expect(readableText(text, true)).toBe(text);
    }
    expect(readableText('{"a":[1', true)).toBe('{\n  "a": [\n    1');
  });
});
