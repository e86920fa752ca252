import { expect, it } from "vitest";
import { readJson, writeJson } from "@/server/base/json/json";
import {
  choicesOf,
  describeRest,
  findNameIssue,
  NO_FIELDS,
  presetOf,
  toSchema,
  reasonOf as whyNot,
  withType,
} from "./design";
import { type Field, newField, readSchema } from "./field";
import { controlOf, numberText, sampleOf } from "./value";

function fieldsOf(schema: unknown): Field {
  const root = readSchema(schema);
  expect(whyNot(root)).toBeNull();
  return root;
}

const reasonOf = (schema: unknown) => whyNot(readSchema(schema));

const objectOf = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

const ORDER = {
  type: "object",
  properties: {
    city: { type: "string", description: "A city", maxLength: 80, default: "Oslo" },
    days: { type: "integer", minimum: 1, default: 3 },
    ratio: { type: "number" },
    express: { type: "boolean", default: false },
    unit: { type: "string", enum: ["metric", "imperial"], default: "metric" },
    tags: { type: "array", items: { type: "string" }, maxItems: 5 },
    anything: { description: "Any JSON" },
    address: {
      type: "object",
      properties: { street: { type: "string" }, lines: { type: "array" } },
      required: ["street"],
      additionalProperties: false,
    },
    items: {
      type: "array",
      items: { type: "object", properties: { sku: { type: "string" } }, required: ["sku"] },
      default: [],
    },
  },
  required: ["city", "items"],
  description: "An order",
  additionalProperties: false,
};

it("reads each type with what it has", () => {
  const { fields, keywords } = fieldsOf(ORDER);
  expect(fields.map(({ name, type, required }) => [name, type, required])).toEqual([
    ["city", "text", true],
    ["days", "integer", false],
    ["ratio", "number", false],
    ["express", "boolean", false],
    ["unit", "choice", false],
    ["tags", "list", false],
    ["anything", "any", false],
    ["address", "object", false],
    ["items", "list", true],
  ]);
  expect(keywords).toEqual({ description: "An order", additionalProperties: false });
  expect(fields[0]?.keywords).toEqual({ description: "A city", default: "Oslo", maxLength: 80 });
  expect(fields.map(presetOf)).toEqual(["Oslo", 3, undefined, false, "metric", ...Array(4).fill(undefined)]);
  expect(fields[4]).toMatchObject({ choices: ["metric", "imperial"], keywords: { default: "metric" } });
  expect(fields.map(describeRest)).toEqual([
    "maxLength 80",
    "minimum 1",
    "",
    "",
    "",
    "maxItems 5",
    "",
    "additionalProperties false",
    "default []",
  ]);
  expect(fields[8]?.items?.fields[0]).toMatchObject({ name: "sku", required: true });
});

it("writes what it read, with every keyword", () => {
  expect(toSchema(fieldsOf(ORDER))).toEqual(ORDER);
  const odd = objectOf({
    lines: { type: "string", default: "a\nb" },
    blank: { type: "string", default: "" },
    wrong: { type: "integer", default: "three" },
    amount: { type: "number", enum: [1, 2] },
    other: { type: "string", enum: ["a"], default: "b" },
    one: { const: 5 },
  });
  expect(toSchema(fieldsOf(odd))).toEqual(odd);
  expect(toSchema(NO_FIELDS)).toEqual(objectOf({}));
  expect(toSchema(fieldsOf({ type: "object" }))).toEqual({ type: "object" });
});

it("shows why a schema cannot be shown", () => {
  expect(reasonOf(objectOf({ price: { anyOf: [{ type: "number" }] } }))).toBe('"price" uses anyOf.');
  expect(reasonOf(objectOf({ a: objectOf({ b: { $ref: "#/$defs/b" } }) }))).toBe('"a.b" uses $ref.');
  expect(reasonOf(objectOf({ a: { type: ["string", "null"] } }))).toBe('"a" has several types.');
  expect(reasonOf(objectOf({ a: { type: "null" } }))).toBe('"a" has the type "null".');
  expect(reasonOf(objectOf({ a: true }))).toBe('"a" is not an object of keywords.');
  expect(reasonOf(objectOf({ a: { type: "array", items: { not: {} } } }))).toBe('An item of "a" uses not.');
  expect(reasonOf({ type: "array" })).toBe("The schema does not describe an object with properties.");
  expect(reasonOf("{{ input }}")).toBe("The schema is not an object of keywords.");
  expect(reasonOf(objectOf({}, { required: ["b"] }))).toBe(
    'The schema requires "b", which is not a property.',
  );
  const deep = objectOf({ a: objectOf({ b: objectOf({ c: objectOf({ d: objectOf({ e: {} }) }) }) }) });
  expect(reasonOf(deep)).toBe('"a.b.c.d.e" is nested deeper than 4 levels.');
});

it("fills in as JSON what cannot be designed, beside what can", () => {
  const root = readSchema(
    objectOf({ price: { anyOf: [{ type: "number" }], default: 3 }, size: { enum: [1, 2] } }),
  );
  expect(root.fields.map(controlOf)).toEqual(["json", "choice"]);
  expect(sampleOf(root)).toEqual({ price: 3 });
  expect(whyNot(root)).toBe('"price" uses anyOf.');
});

it("leaves out fields whose name is empty or taken", () => {
  const fields = [newField("a"), newField(""), { ...newField("a"), required: true }];
  expect(fields.map((field) => findNameIssue(field, fields))).toEqual([
    null,
    "Without a name it is not saved.",
    "Another one is named a. This one is not saved.",
  ]);
  expect(toSchema({ ...NO_FIELDS, fields })).toEqual(objectOf({ a: { type: "string" } }));
});

it("takes names that all objects have", () => {
  const fields = [newField("constructor"), newField("__proto__")];
  const schema = toSchema({ ...NO_FIELDS, fields });
  expect(Object.keys(Object(schema.properties))).toEqual(["constructor", "__proto__"]);
  expect(fieldsOf(JSON.parse(JSON.stringify(schema))).fields).toEqual(fields);
});

it("drops what only the earlier type had", () => {
  const [days] = fieldsOf(
    objectOf({ days: { type: "number", minimum: 1, default: 2.5, description: "D" } }),
  ).fields;
  const field = (type: Field["type"]) => days && withType(days, type);
  expect(field("integer")).toMatchObject({ type: "integer", keywords: { minimum: 1, description: "D" } });
  expect(field("integer")?.keywords).not.toHaveProperty("default");
  expect(field("text")?.keywords).toEqual({ description: "D" });
  expect(field("list")?.items).toEqual(newField());
});

it("names a default that has no control", () => {
  const presets = { address: { type: "object", default: { city: "Oslo" } }, any: { default: 5 } };
  const { fields } = fieldsOf(objectOf(presets));
  expect(fields.map(describeRest)).toEqual(['default {"city":"Oslo"}', "default 5"]);
});

it("has a choice only with values", () => {
  const choice = { ...newField("unit"), type: "choice" as const, choices: ["", " a ", "a", "b", ""] };
  expect(choicesOf(choice)).toEqual(["a", "b"]);
  expect(toSchema({ ...NO_FIELDS, fields: [{ ...choice, choices: [] }] })).toEqual(
    objectOf({ unit: { type: "string" } }),
  );
});

it("keeps the digits of a default that a double cannot hold", () => {
  const properties =
    '{"id":{"type":"integer","default":12345678901234567890},"part":{"type":"number","default":0.12345678901234567890}}';
  const text = `{"type":"object","properties":${properties}}`;
  const root = fieldsOf(readJson(text));
  expect(root.fields.map((field) => numberText(presetOf(field)))).toEqual([
    "12345678901234567890",
    "0.12345678901234567890",
  ]);
  expect(writeJson(toSchema(root))).toBe(text);
  const [id, part] = root.fields.map((field) => withType(field, "integer").keywords);
  expect([id, part].map((keywords) => keywords && "default" in keywords)).toEqual([true, false]);
});
