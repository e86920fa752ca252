import { expect, test } from "vitest";
import { insertIntoJson, resemblesJson } from "./insert";

/** `|` marks the cursor, `‹ ›` a selection. */
function insertAt(marked: string): string {
  const from = marked.search(/[|‹]/);
  const to = marked.includes("|") ? from : marked.indexOf("›") - 1;
  const text = marked.replace(/[|‹›]/g, "");
  const change = insertIntoJson(text, { from, to }, "{{ steps.a }}");
  const changed = text.slice(0, change.from) + change.insert + text.slice(change.to);
  return `${changed.slice(0, change.cursor)}|${changed.slice(change.cursor)}`;
}

test.each([
  ["|", "{{ steps.a }}|"],
  ['|""', "{{ steps.a }}|"],
  ['"|"', "{{ steps.a }}|"],
  ["|null", "{{ steps.a }}|"],
  ["|{}", "{{ steps.a }}|"],
  ["|5", "{{ steps.a }}|"],
  ['‹{"a": 1}›', "{{ steps.a }}|"],
  ["Hello |", "Hello {{ steps.a }}|"],
  ["|{{ input.b }}", "{{ steps.a }}|{{ input.b }}"],
  ['"Hello |"', '"Hello {{ steps.a }}|"'],
  ['|"Hello"', '"{{ steps.a }}|Hello"'],
  ['{"to": "x|y"}', '{"to": "x{{ steps.a }}|y"}'],
  ['{"to": "‹xy›"}', '{"to": "{{ steps.a }}|"}'],
  ['{"to": |}', '{"to": "{{ steps.a }}|"}'],
  ['{"to": tr|ue}', '{"to": "{{ steps.a }}|"}'],
  ["[|]", '["{{ steps.a }}|"]'],
  ["[1, |]", '[1, "{{ steps.a }}|"]'],
  ["{|}", '{"a": "{{ steps.a }}|"}'],
  ['|{"b": 1}', '{"b": 1, "a": "{{ steps.a }}|"}'],
  ['{\n  "b": 1\n}|', '{\n  "b": 1, "a": "{{ steps.a }}|"\n}'],
  ["|[1]", '[1, "{{ steps.a }}|"]'],
])("a reference in %j gives %j", (before, after) => {
  expect(insertAt(before)).toBe(after);
});

test.each([
  ['{{ a }}""', true],
  ['["a"', true],
  ['"open', true],
  ["{{ a }}[]", true],
  ["{{ a }}", false],
  ["{{ a }} and {{ b }}", false],
  ["{{ a }} 5", false],
  ["plain words", false],
])("%j resembles JSON: %j", (text, expected) => {
  expect(resemblesJson(text)).toBe(expected);
});
