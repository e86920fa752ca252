import { expect, test } from "vitest";
import { isJsonObject, type JsonObject, writeJson } from "@/server/base/json/json";
import { geminiToolsProblem } from "@/testing/servers/families/schema-rules";
import { toSentTool } from "./sent-schemas";

function sentParameters(parameters: JsonObject): JsonObject {
  const tool = { name: "f", description: "", parameters };
  const sent = toSentTool(tool, { quirks: ["geminiSchemas"], maxDescription: 1_024 });
  expect(geminiToolsProblem([sent], false)).toBeNull();
  return sent.parameters ?? {};
}

function sentProperties(properties: JsonObject, more: JsonObject = {}): JsonObject {
  const { properties: sent } = sentParameters({ type: "object", properties, ...more });
  return isJsonObject(sent) ? sent : {};
}

const references = (names: string[]) => names.map((name) => ({ $ref: `#/$defs/${name}` }));

test("a recursive union leaves room for all other properties", () => {
  const kinds = Array.from({ length: 8 }, (_, index) => `Block${index}`);
  const children = { type: "array", items: { anyOf: references(kinds) } };
  const Address = { type: "object", properties: { city: { $ref: "#/$defs/City" } } };
  const $defs = {
    ...Object.fromEntries(
      kinds.map((kind) => [kind, { type: "object", properties: { kind: { const: kind }, children } }]),
    ),
    Address,
    City: { type: "string", enum: ["Bern", "Ulm"] },
  };
  const sent = sentProperties(
    {
      blocks: children,
      after: { type: "string" },
      limit: { type: "integer" },
      to: { $ref: "#/$defs/Address" },
    },
    { $defs },
  );
  expect(sent).toMatchObject({
    blocks: { items: { anyOf: expect.arrayContaining([expect.objectContaining({ type: "object" })]) } },
    after: { type: "string" },
    limit: { type: "integer" },
    to: { type: "object", properties: { city: { type: "string", enum: ["Bern", "Ulm"] } } },
  });
  expect(writeJson(sent).length).toBeLessThan(100_000);
});

test("texts of references that multiply are sent once", () => {
  const zones = Array.from({ length: 420 }, (_, index) => `Region/City number ${index}`);
  const names = Array.from({ length: 1_900 }, (_, index) => `p${index}`);
  const $defs = {
    Long: { type: "object", description: "x".repeat(60_000), properties: { a: { type: "string" } } },
    Zone: { type: "string", enum: zones },
  };
  const long = sentProperties(Object.fromEntries(names.map((name) => [name, { $ref: "#/$defs/Long" }])), {
    $defs,
  });
  expect(long.p0).toMatchObject({
    description: $defs.Long.description,
    properties: { a: { type: "string" } },
  });
  expect(long.p1899).toMatchObject({ type: "object" });
  expect(writeJson(long).length).toBeLessThan(1_000_000);
  const inZones = sentProperties(
    Object.fromEntries(names.slice(0, 30).map((name) => [name, { $ref: "#/$defs/Zone" }])),
    { $defs },
  );
  expect(inZones).toMatchObject({ p0: { type: "string", enum: zones }, p29: { type: "string" } });
  expect(writeJson(inZones).length).toBeLessThan(100_000);
});

test("recursion through allOf ends at once", () => {
  const child = { allOf: [{ $ref: "#/$defs/Folder" }], description: "A child." };
  const named = { allOf: [{ $ref: "#/$defs/Folder" }, { properties: { by: { type: "string" } } }] };
  const $defs = { Folder: { type: "object", properties: { child, named } } };
  expect(sentProperties({ root: { $ref: "#/$defs/Folder" } }, { $defs })).toEqual({
    root: {
      type: "object",
      properties: {
        child: { type: "object", description: "A child." },
        named: { type: "object", properties: { by: { type: "string" } } },
      },
    },
  });
});

test("references name the schema as it was given", () => {
  const sent = sentProperties({
    first: { oneOf: [{ type: "object", properties: { a: { type: "integer" } } }, { type: "string" }] },
    again: { $ref: "#/properties/first/oneOf/0" },
    map: { type: "object", additionalProperties: { type: "string", enum: ["a", "b"] } },
    choice: { $ref: "#/properties/map/additionalProperties" },
    encoded: { $ref: "#/properties/a%20b" },
    "a b": { type: "string", enum: ["c"] },
    elsewhere: { $ref: "https://example.com/item.json", description: "An item." },
  });
  expect(sent).toMatchObject({
    again: { type: "object", properties: { a: { type: "integer" } } },
    choice: { type: "string", enum: ["a", "b"] },
    encoded: { type: "string", enum: ["c"] },
    elsewhere: { anyOf: expect.arrayContaining([{ type: "number" }, { type: "object" }]) },
  });
});

test("choices keep their values", () => {
  const sent = sentProperties({
    titled: { type: "string", oneOf: [{ const: "a", title: "A" }, { const: "b" }] },
    maybe: { enum: ["a", "b", null] },
    mixed: { enum: ["a", 1] },
    either: { anyOf: [{ type: "integer" }, { enum: ["auto", null] }] },
    nothing: { enum: [null] },
    forms: { type: "string", anyOf: [{ const: "a" }, { minLength: 2 }] },
  });
  expect(sent).toEqual({
    titled: { type: "string", enum: ["a", "b"] },
    maybe: { type: "string", nullable: true, enum: ["a", "b"] },
    mixed: { type: "string", enum: ["a", "1"] },
    either: {
      anyOf: [{ type: "integer" }, { type: "string", nullable: true, enum: ["auto"] }],
    },
    nothing: { type: "string", nullable: true },
    forms: { type: "string" },
  });
});
