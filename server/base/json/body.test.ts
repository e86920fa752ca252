import { expect, test } from "vitest";
import { decodeText, parseBodyText, rejectInvalidText, requireJson } from "./body";

test("a byte order mark before JSON is accepted", async () => {
  expect(await parseBodyText(decodeText(Buffer.from('\ufeff{"a":1}')))).toEqual({ a: 1 });
  await expect(parseBodyText('\ufeff\ufeff{"a":1}')).rejects.toMatchObject({ code: "invalid_request" });
});

test.each(["", " \r\n", "\ufeff"])("an empty body is called empty: %j", async (text) => {
  await expect(parseBodyText(text)).rejects.toMatchObject({
    code: "invalid_request",
    message: "The body is empty. It must be JSON.",
  });
});

test.each([
  ["application/json", null],
  ['Application/JSON; charset="UTF-8"', null],
  ["text/plain; charset=utf-8", "not text/plain; charset=utf-8."],
  ["application/json; charset=latin1", "not application/json; charset=latin1."],
  [` ${"x".repeat(500)}`, `not ${"x".repeat(100)}.`],
  [" ", "It is missing."],
  [null, "It is missing."],
])("the content type %j: %j", (header, issue) => {
  const check = () => requireJson(header);
  if (issue === null) expect(check).not.toThrow();
  else expect(check).toThrow(issue);
});

test.each([
  ['{"a":NaN}', "The body is not valid JSON."],
  [`[${'{"a":1}\n'.repeat(5_000)}]`, "The body is not valid JSON."],
  ['{"a":1e400}', "The body contains a number that is too large."],
  [`${"[".repeat(300)}${"]".repeat(300)}`, "The body is nested deeper than 200 levels."],
  [`${"[".repeat(30_000)}${"]".repeat(30_000)}`, "The body is nested deeper than 200 levels."],
])("a body that cannot be used says why: %s", async (text, message) => {
  await expect(parseBodyText(text)).rejects.toMatchObject({ code: "invalid_request", message });
});

const LONG = Array.from({ length: 30_000 }, (_, at) => `${at} \\ud800 \\u0000 😀`);

test.each<[string, Parameters<typeof rejectInvalidText>[0], string, string]>([
  ["U+0000", { a: ["x", "\0"] }, "U+0000", "/a/1"],
  ["half a pair (apache/airflow#70385)", { a: ["x", "a\ud800b"] }, "an unpaired surrogate", "/a/1"],
  ["the other half", { a: { "b\udc00": 1 } }, "an unpaired surrogate", "/a/b\ufffd"],
  ["the end of a long body", [...LONG, "\ud83d"], "an unpaired surrogate", "/30000"],
  ["a text alone", "\ud83d", "an unpaired surrogate", ""],
])("a body is rejected with the path: %s", async (_name, value, found, path) => {
  await expect(rejectInvalidText(value)).rejects.toMatchObject({
    code: "invalid_request",
    issues: [{ path, message: `must not contain ${found}` }],
  });
});

test("pairs, and the same letters after a backslash, are valid", async () => {
  await rejectInvalidText({ a: "😀 \\ud800 \\u0000" });
  await rejectInvalidText(LONG);
});
