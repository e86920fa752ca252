import fc from "fast-check";
import { expect, it } from "vitest";
import { readValue, showValue } from "./value-field";

it.each([
  ["{{ input.city }}", false, "{{ input.city }}"],
  ["plain words", false, "plain words"],
  ['{{ steps.a }}""', false, '"{{ steps.a }}\\"\\""'],
  ["5", false, '"5"'],
  ["5", true, "5"],
  ["", false, '""'],
  [5, false, "5"],
  [true, false, "true"],
  [{ a: "{{ x }}" }, false, '{\n  "a": "{{ x }}"\n}'],
  [undefined, false, ""],
])("%j is shown as %s", (value, isText, text) => {
  expect(showValue(value, isText)).toBe(text);
  expect(readValue(text, isText)).toEqual(value);
});

it("a number that would be saved as null stays text", () => {
  for (const text of ["1e999", '{"a":[-1e999]}']) expect(readValue(text, false)).toBe(text);
});

it("any JSON value is read as it was shown", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      expect(JSON.stringify(readValue(showValue(value, false), false))).toBe(JSON.stringify(value));
    }),
  );
});
