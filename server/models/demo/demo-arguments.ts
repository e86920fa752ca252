import { isJsonObject, type Json, type JsonObject } from "@/server/json/json";
import { findCounted, findIdentifier, findName, findNumbers, findQuoted, findTopic } from "./demo-reading";

/** Creates arguments for any JSON Schema from a message, for the demo model (demo.ts). */

/** The text, its numbers that no field has used yet, as written, and known values by the name of a field. */
type Material = { text: string; numbers: string[]; facts: ReadonlyMap<string, Json> };

const NO_FACTS: Material["facts"] = new Map();

const COUNTED_FIELD = /item|product|article|goods|thing|what/i;
const MESSAGE_FIELD = /^(question|message|prompt|text|request|note|comment)$/i;
/** Fields that contain names of people or places rather than identifiers. */
const NAME_FIELD = /city|country|place|location|address|person|customer_?name|language|color|colour/i;
/** Longer texts do not fit a field for a single thing. */
const SHORT = 60;

/** A value for a schema, guessed from the text. Fields whose names are those of `facts` get their values. */
export function createValue(schema: Json | undefined, text: string, facts = NO_FACTS): Json {
  return fill(schema, { material: { text, numbers: findNumbers(text), facts }, field: "", depth: 0 });
}

/**
 * Arguments with every required property, or with all if none is required. The text's numbers go to number fields in
 * order, integers to integer fields first; each is used once.
 */
export function createArguments(schema: JsonObject, text: string): JsonObject {
  return fillObject(schema, { text, numbers: findNumbers(text), facts: NO_FACTS }, 0);
}

/** How many numbers of a text a tool could use. */
export function countNumberFields(schema: JsonObject): number {
  const properties = isJsonObject(schema.properties) ? Object.values(schema.properties) : [];
  return properties.filter((property) => ["number", "integer"].includes(typeOf(property) ?? "")).length;
}

function typeOf(schema: Json | undefined): string | undefined {
  if (!isJsonObject(schema)) return undefined;
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  return typeof type === "string" ? type : undefined;
}

function fits(value: Json, type: string | undefined): boolean {
  if (type === "integer") return Number.isInteger(value);
  return isJsonObject(value) ? type === "object" : typeof value === type;
}

function fill(
  schema: Json | undefined,
  { material, field, depth }: { material: Material; field: string; depth: number },
): Json {
  if (!isJsonObject(schema) || depth > 6) return subjectFor(field, material.text);
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum) && schema.enum.length > 0) {
    const lower = material.text.toLowerCase();
    const named = schema.enum.find(
      (value) => typeof value === "string" && lower.includes(value.toLowerCase()),
    );
    return named ?? schema.default ?? schema.enum[0] ?? null;
  }
  if (schema.default !== undefined) return schema.default;
  for (const key of ["anyOf", "oneOf"]) {
    const branches = schema[key];
    if (Array.isArray(branches) && branches.length > 0)
      return fill(branches[0], { material, field, depth: depth + 1 });
  }
  const type = typeOf(schema);
  const fact = material.facts.get(field);
  if (fact !== undefined && fits(fact, type)) return fact;
  if (type === "object" || (type === undefined && isJsonObject(schema.properties))) {
    return fillObject(schema, material, depth + 1);
  }
  if (type === "array") {
    const count = typeof schema.minItems === "number" ? Math.min(schema.minItems, 10) : 1;
    return Array.from({ length: count }, () => fill(schema.items, { material, field, depth: depth + 1 }));
  }
  if (type === "number" || type === "integer") return createNumber(schema, material);
  if (type === "boolean") return true;
  if (type === "null") return null;
  return createText(schema, material.text, field);
}

function fillObject(schema: JsonObject, material: Material, depth: number): JsonObject {
  const properties = isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  const wanted = (
    required.length > 0 ? properties.filter(([name]) => required.includes(name)) : properties
  ).slice(0, 50);
  const whole = wanted.filter(([, property]) => typeOf(property) === "integer");
  const others = wanted.filter((entry) => !whole.includes(entry));
  const values = new Map(
    [...whole, ...others].map(([name, property]) => [name, fill(property, { material, field: name, depth })]),
  );
  return Object.fromEntries(wanted.map(([name]) => [name, values.get(name) ?? null]));
}

function createNumber(schema: JsonObject, { numbers }: Material): number {
  const isInteger = schema.type === "integer";
  const index = isInteger ? numbers.findIndex((number) => !number.includes(".")) : 0;
  const [taken] = numbers.splice(Math.max(index, 0), 1);
  const found = Number(taken ?? 1);
  const min = typeof schema.minimum === "number" ? schema.minimum : Number.NEGATIVE_INFINITY;
  const max = typeof schema.maximum === "number" ? schema.maximum : Number.POSITIVE_INFINITY;
  return Math.min(max, Math.max(min, isInteger ? Math.round(found) : found));
}

function createText(schema: JsonObject, text: string, field: string): string {
  if (schema.format === "date") return /\d{4}-\d\d-\d\d/.exec(text)?.[0] ?? "2026-01-01";
  if (schema.format === "date-time") return "2026-01-01T00:00:00Z";
  if (schema.format === "email")
    return /[^\s@]{1,64}@[^\s@]{1,100}\.\w{2,20}/.exec(text)?.[0] ?? "someone@example.com";
  if (schema.format === "uri") return /https?:\/\/[^\s"'<>]+/.exec(text)?.[0] ?? "https://example.com/";
  const subject = subjectFor(field, text);
  const max = typeof schema.maxLength === "number" ? schema.maxLength : subject.length;
  const min = typeof schema.minLength === "number" ? Math.min(schema.minLength, 1000) : 0;
  return subject.slice(0, max).padEnd(min, "x");
}

/** The part of a text for the text field of this name. */
function subjectFor(field: string, text: string): string {
  const whole = text.trim().slice(0, 200);
  if (MESSAGE_FIELD.test(field)) return whole;
  const identifier = findQuoted(text) ?? (NAME_FIELD.test(field) ? undefined : findIdentifier(text));
  if (identifier !== undefined) return identifier;
  const name = findName(text);
  const counted = findCounted(text);
  if (COUNTED_FIELD.test(field)) return counted ?? name ?? findTopic(text) ?? whole;
  if (name !== undefined || counted !== undefined) return name ?? counted ?? whole;
  return whole.length <= SHORT && !whole.includes("?") ? whole : (findTopic(text) ?? whole);
}
