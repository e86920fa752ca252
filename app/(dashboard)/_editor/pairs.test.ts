import { expect, test } from "vitest";
import { readFunctions } from "@/server/catalog/edit-definition";
import { readSchema } from "../_schema/field";
import { doubledNames, pairsOf, readPairs, writePairs } from "./pairs";

const fieldOf = (uses: string, name: string) => {
  const used = readFunctions().find((each) => each.name === uses);
  const field = readSchema(JSON.parse(used?.input ?? "null")).fields.find((each) => each.name === name);
  if (field === undefined) throw new Error(`${uses} has no input ${name}.`);
  return field;
};

test("headers, query and form have rows; objects with other values do not", () => {
  expect(pairsOf(fieldOf("http_request", "headers"))).toEqual({ lists: false });
  expect(pairsOf(fieldOf("http_request", "query"))).toEqual({ lists: true });
  expect(pairsOf(fieldOf("http_request", "form"))).toEqual({ lists: true });
  expect(pairsOf(fieldOf("http_request", "body"))).toBeNull();
  expect(pairsOf(fieldOf("run_tool", "input"))).toBeNull();
});

test.each([
  [undefined, 0],
  [{ accept: "text/plain", n: 5 }, 2],
  [{ tag: ["a", "b"], page: "{{ input.page }}" }, 3],
])("%j is read and written as rows", (value, count) => {
  const rows = readPairs(value, { lists: true });
  expect(rows).toHaveLength(count);
  expect(writePairs(rows ?? [], { lists: true })).toEqual(value);
});

test.each(["{{ input }}", { a: { b: 1 } }, { a: [] }, { "": "x" }, ["a"]])("%j has no rows", (value) => {
  expect(readPairs(value, { lists: true })).toBeNull();
});

test("a name twice is a list where lists are allowed, else a mistake", () => {
  const rows = [
    { key: 0, name: "Status", value: "open" },
    { key: 1, name: "", value: "lost" },
    { key: 2, name: "Status", value: "late" },
  ];
  expect(writePairs(rows, { lists: true })).toEqual({ Status: ["open", "late"] });
  expect(writePairs(rows, { lists: false })).toEqual({ Status: "open" });
  expect(doubledNames(rows)).toEqual(["status"]);
});
