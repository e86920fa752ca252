import { expect, test } from "vitest";
import { membersOf, namedValues, schemaOf, schemasAt } from "./schema";

const SCHEMA = {
  type: "object",
  properties: {
    city: { type: "string", description: "A city.", enum: ["Oslo", "Bergen"] },
    stops: { type: "array", items: { $ref: "#/$defs/stop" } },
    mode: { anyOf: [{ const: "fast" }, { type: "boolean", default: false }] },
  },
  additionalProperties: { type: "integer" },
  $defs: {
    stop: { type: "object", properties: { minutes: { type: "integer" }, next: { $ref: "#/$defs/stop" } } },
  },
};

test("the properties at a path, through lists and references", () => {
  const names = (...path: (string | number)[]) => membersOf(schemasAt(SCHEMA, path)).map(({ name }) => name);
  expect(names()).toEqual(["city", "stops", "mode"]);
  expect(names("stops", 3, "next")).toEqual(["minutes", "next"]);
  expect(names("nothing", "below")).toEqual([]);
  expect(membersOf(schemasAt(SCHEMA, []))[0]).toMatchObject({ type: "text", description: "A city." });
});

test("the values that a schema names", () => {
  expect(namedValues(schemasAt(SCHEMA, ["city"]))).toEqual(["Oslo", "Bergen"]);
  expect(namedValues(schemasAt(SCHEMA, ["mode"]))).toEqual(["fast", true, false]);
});

test("the schema that a value shows", () => {
  const schema = schemaOf({ order: { id: 7, lines: [{ sku: "a" }] } });
  const names = (...path: (string | number)[]) => membersOf(schemasAt(schema, path)).map(({ name }) => name);
  expect(names("order")).toEqual(["id", "lines"]);
  expect(names("order", "lines", 0)).toEqual(["sku"]);
  expect(names("order", "id")).toEqual([]);
});
