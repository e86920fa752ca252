import { expect, test } from "vitest";
import { positionInJson } from "./json-position";
import type { Position } from "./position";
import { referenceAtEnd, referenceInTemplate } from "./reference";
import { positionInYaml } from "./yaml-position";

/** `|` is the cursor. Returns kind, path, the replaced text, other keys. */
function at(read: (text: string, offset: number) => Position | null, marked: string): string | null {
  const offset = marked.indexOf("|");
  const text = marked.replace("|", "");
  const found = read(text, offset);
  return (
    found &&
    `${found.kind} ${found.path.join(".")} <${text.slice(found.from, found.to)}> ${found.keys.join()}`
  );
}

test.each([
  ["|", "value  <> "],
  ["{|", "key  <> "],
  ['{"a": 1, |}', "key  <> a"],
  ['{"a": 1, "b|": 2, "c": 3}', 'key  <"b"> a,c'],
  ['{"a": {"b|', 'key a <"b> '],
  ['{"a": |}', "value a <> a"],
  ['{"a": "x|y"}', 'value a <"xy"> a'],
  ['{"a": tr|', "value a <tr> a"],
  ['[{"a": 1}, {|}]', "key 1 <> "],
  ['{"a": [1, 2, |]}', "value a.2 <> "],
  ['{"a": 1} |', null],
  ['{"a" |', null],
  ['{"a": 1 |}', null],
])("a position in JSON: %s", (text, expected) => {
  expect(at(positionInJson, text)).toBe(expected);
});

const TOOL = `slug: a
steps:
  - id: one
    uses: http_request
    with:
      url: x
      query: { a: 1 }
`;

test.each([
  ["sl|", "key  <sl> "],
  ["slug: a\n|", "key  <> slug"],
  ["|\nslug: a", "key  <> slug"],
  [`${TOOL}  - i|`, "key steps.1 <i> "],
  [`${TOOL}  - id: two\n    |`, "key steps.1 <> id"],
  [`${TOOL}      |`, "key steps.0.with <> url,query"],
  [`${TOOL}      me|thod`, "key steps.0.with <method> url,query"],
  [`${TOOL}    re|\n    if: x`, "key steps.0 <re> id,uses,with,if"],
  [TOOL.replace("http_request", "http|"), "value steps.0.uses <http> "],
  [TOOL.replace("http_request", "|"), "value steps.0.uses <> "],
  [`${TOOL}o|`, "key  <o> slug,steps"],
  // A list may begin in the column of its key.
  ["steps:\n- id: a\n- u|", "key steps.1 <u> "],
  ["a:\n  - - |", "key a.0.0 <> "],
  ["a: |b # c", "value a <b # c> "],
  ["a: b # c|", null],
  ["a: { b| }", "inside a <> "],
  ["a:\n  b: >\n    te|xt", "inside a.b <> "],
])("a position in YAML: %s", (text, expected) => {
  expect(at(positionInYaml, text)).toBe(expected);
});

test.each([
  ["steps.orders.bo", "steps.orders", "bo"],
  ["in", "", "in"],
  ["$sum(steps.`two words`[0].", "steps.two words.0", ""],
  ["steps.a + input.", "input", ""],
  ['"in', null, ""],
  ["$su", null, ""],
  ["12", null, ""],
])("the reference at the end of %s", (text, path, last) => {
  const found = referenceAtEnd(text);
  expect(found?.path.join(".") ?? null).toBe(path);
  if (found) expect(text.slice(found.from)).toBe(last);
});

test("a reference in a template is within its braces", () => {
  expect(referenceInTemplate("Hello in")).toBeNull();
  expect(referenceInTemplate("Hello {{ input.a }} in")).toBeNull();
  expect(referenceInTemplate("Hello {{ input.ci")).toEqual({ path: ["input"], from: 15 });
});
