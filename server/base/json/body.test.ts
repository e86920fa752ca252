import { expect, test } from "vitest";
import { decodeText, parseBodyText, requireJson } from "./body";

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
])("the content type %j: %j", (header, fault) => {
  const check = () => requireJson(header);
  if (fault === null) expect(check).not.toThrow();
  else expect(check).toThrow(fault);
});
