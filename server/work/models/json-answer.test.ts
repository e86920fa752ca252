import { expect, test } from "vitest";
import { readJsonAnswer } from "./json-answer";

const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const read = (content: string) => readJsonAnswer(content, schema, "org-1");

// langchain-ai/langchain#33126
test.each([
  ["prose around it", 'Here you are [1]: {"city":"Oslo"} Anything else?'],
  ["a fence within prose", 'Sure!\n```json\n{"city":"Oslo"}\n```\nDone.'],
  ["thinking that was not opened", 'The braces {like this} help.</think>{"city":"Oslo"}'],
  ["line ends in its texts", '```json\n{\n"city":"Oslo","note":"one\n\ttwo \\" \\\\"\n}\n```'],
  ["single quotes", "{'city': 'Oslo', 'note': 'a \"b\" it\\'s', \"x\": ['y', '']}"],
  ["commas before brackets", '```json\n{"city":"Oslo","list":[1,2,\n],\n}\n```'],
  ["brackets in its texts", 'So: {"city":"Oslo","note":"a } and a \\" in {"}'],
])("finds the JSON of an answer with %s", async (_name, content) => {
  expect(await read(content)).toMatchObject({ value: { city: "Oslo" } });
});

test.each([
  ["an apostrophe that may end a text", "{'city': 'Oslo's port'}"],
  ["a value that is missing", '{"city":"Oslo","list":[1,,]}'],
  ["a list of a comma only", '{"city":"Oslo","list":[,]}'],
  ["a quote in the middle", "{\"city\": Os'lo'}"],
  ["names without quotes", "{city: 'Oslo'}"],
])("does not guess the JSON of an answer with %s", async (_name, content) => {
  expect(await read(content)).toEqual({ issue: "it is not JSON" });
});

test("keeps commas and single quotes in texts", async () => {
  expect(await read("{'city': 'a, b', \"note\": \"',]'\",}")).toEqual({
    value: { city: "a, b", note: "',]'" },
  });
});

test("reports what is wrong with the JSON in prose, or that there is none", async () => {
  expect(await read('Here: {"town":"Oslo"}')).toMatchObject({ issue: expect.stringContaining("city") });
  expect(await read("It is Oslo.")).toEqual({ issue: "it is not JSON" });
});

test.each([
  ["a number that is too large", '{"city":1e400}', "number that is too large"],
  ["such a number, in prose", 'Here: {"city":1e400}', "number that is too large"],
  ["too many levels", `${"[".repeat(201)}${"]".repeat(201)}`, "deeper than 200 levels"],
])("reports the limit that an answer exceeds: %s", async (_name, content, limit) => {
  expect(await read(content)).toEqual({ issue: expect.stringMatching(new RegExp(`${limit}$`)) });
});

// misospace/pr-reviewer-action#449
test("keeps the line ends that a model left in a text", async () => {
  const { value } = { value: null, ...(await read('{"city":"Os\nlo\r\n\t"}')) };
  expect(value).toEqual({ city: "Os\nlo\r\n\t" });
});

test("reads an answer of quotes and backslashes in bounded time", async () => {
  for (const part of ['"\n', '\\"\n', "\\\n"])
    expect(await read(`{${part.repeat(80_000)}`)).toEqual({ issue: "it is not JSON" });
});

test("searches an answer full of brackets in bounded time", async () => {
  expect(await read("{[".repeat(100_000))).toEqual({ issue: "it is not JSON" });
});
