import { expect, it } from "vitest";
import { readTool } from "../tool-document";
import { insertableSecrets, insertablesBefore } from "./insertables";

const tool = readTool(`
parameters: { type: object, properties: { city: {}, "zip-code": {} } }
steps:
  - { id: one, uses: current_time }
  - { id: two, uses: calculate, forEach: input.list, as: price }
  - { id: three, uses: calculate, forEach: input.list }
`);

it.each([
  [0, ["input.city", "input.`zip-code`"]],
  [1, ["input.city", "input.`zip-code`", "steps.one", "price"]],
  [2, ["input.city", "input.`zip-code`", "steps.one", "steps.two", "item"]],
  [3, ["input.city", "input.`zip-code`", "steps.one", "steps.two", "steps.three"]],
])("the part at %i refers to the input, earlier steps and its item", (index, names) => {
  if (tool === null) throw new Error("The YAML is not valid.");
  expect(insertablesBefore(tool, { index }).map(({ name }) => name)).toEqual(names);
});

it("shows what steps and their fields returned last", () => {
  if (tool === null) throw new Error("The YAML is not valid.");
  const outputs = new Map<string, unknown>([
    ["one", { iso: "2026" }],
    ["two", null],
  ]);
  expect(insertablesBefore(tool, { index: 3 }, outputs).slice(2)).toEqual([
    { name: "steps.one", preview: "{1}" },
    { name: "steps.one.iso", preview: '"2026"' },
    { name: "steps.two", preview: "null" },
    { name: "steps.three" },
  ]);
});

it("a secret in empty headers becomes an authorization header", () => {
  expect(insertableSecrets(["github"], "headers")).toEqual([
    { name: "secrets.github", alone: '{"authorization":"Bearer {{ secrets.github }}"}' },
  ]);
});

it("a secret in an empty address is behind a host", () => {
  expect(insertableSecrets(["bot"], "url")).toEqual([
    { name: "secrets.bot", alone: "https://api.example.com/{{ secrets.bot }}" },
  ]);
});
