import { expect, test } from "vitest";
import { membersOf, namedValues, schemasAt } from "@/app/_ui/editor/text/schema";
import { readFunctions, readToolSchemas } from "@/server/catalog/edit-definition";
import { type Path, readTool } from "../tool-document";
import { scopeOf, takesSecretsAt, toolSchemaAt } from "./tool-completions";

const KNOWN = { functions: readFunctions(), secrets: ["crm"], schemas: readToolSchemas() };
const TOOL = readTool(`slug: a
name: A
parameters: { type: object, properties: { city: { type: string } } }
steps:
  - id: orders
    uses: http_request
    with: { url: x }
  - id: both
    parallel:
      - id: now
        uses: current_time
  - id: each
    uses: wait
    forEach: steps.orders.body
    as: order
    with: { seconds: 1 }
`);
if (TOOL === null) throw new Error("The tool has a syntax error.");

const keysAt = (...path: Path) =>
  membersOf(schemasAt(toolSchemaAt(TOOL, KNOWN, path), [])).map(({ name }) => name);
const namesAt = (index: number, ...path: Path) =>
  membersOf(schemasAt(scopeOf(TOOL, KNOWN, { index, takesSecrets: false }), path)).map(({ name }) => name);

test("the keys of a definition, of a step, of a function's input and of a group's step", () => {
  expect(keysAt()).toEqual(expect.arrayContaining(["slug", "parameters", "steps", "output"]));
  expect(keysAt("steps", 0)).toEqual(expect.arrayContaining(["id", "uses", "with", "forEach", "onError"]));
  expect(keysAt("steps", 0, "with")).toEqual(expect.arrayContaining(["url", "headers"]));
  expect(keysAt("steps", 1, "parallel", 0, "with")).toEqual(["timezone"]);
  expect(keysAt("steps", 9, "with")).toEqual([]);
});

test("the functions of a step, and the values that a field can have", () => {
  const valuesAt = (...path: Path) => namedValues(schemasAt(toolSchemaAt(TOOL, KNOWN, path), []));
  expect(valuesAt("steps", 0, "uses")).toContain("http_request");
  expect(valuesAt("steps", 1, "parallel", 0, "uses")).toContain("calculate");
  expect(valuesAt("steps", 0, "onError")).toEqual(["fail", "continue"]);
  expect(valuesAt("steps", 0, "with", "method")).toContain("POST");
});

test("an expression can name the input, earlier steps with their outputs, and the item", () => {
  expect(namesAt(0, "steps")).toEqual([]);
  expect(namesAt(2)).toEqual(["input", "steps", "run", "order"]);
  expect(namesAt(2, "input")).toEqual(["city"]);
  expect(namesAt(2, "steps")).toEqual(["orders", "both", "now"]);
  expect(namesAt(2, "steps", "orders")).toEqual(expect.arrayContaining(["status", "headers", "body"]));
  expect(namesAt(2, "steps", "now")).toContain("iso");
});

test("secrets are offered only where they may be used", () => {
  expect(takesSecretsAt(TOOL, KNOWN, ["steps", 0, "with", "headers", "authorization"])).toBe(true);
  expect(takesSecretsAt(TOOL, KNOWN, ["steps", 2, "with", "seconds"])).toBe(false);
  expect(takesSecretsAt(TOOL, KNOWN, ["output"])).toBe(false);
  expect(
    membersOf(schemasAt(scopeOf(TOOL, KNOWN, { index: 0, takesSecrets: true }), ["secrets"])),
  ).toMatchObject([{ name: "crm" }]);
});
