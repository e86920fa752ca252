import { isJsonObject, type Json, type JsonObject } from "@/server/base/json/json";
import { findCounted, findIdentifier, findName, findNumbers, findQuoted, findTopic } from "./demo-reading";

const COUNTED_FIELD = /item|product|article|goods|thing|what/i;
const MESSAGE_FIELD = /^(question|message|prompt|text|request|note|comment)$/i;
const NAME_FIELD = /city|country|place|location|address|person|customer_?name|language|color|colour/i;
const SHORT = 60;

/** A value for a schema, guessed from the text. Fields whose names are those of `facts` get their values. */
export function createValue(
  schema: Json | undefined,
  text: string,
  facts: ReadonlyMap<string, Json> = new Map(),
): Json {
  return new Filler(text, facts).fill(schema, "", 0);
}

/**
 * Arguments with every required property, or with all if none is required. Numbers of the text go to number fields
 * in order, integers to integer fields first.
 */
export function createArguments(schema: JsonObject, text: string): JsonObject {
  return new Filler(text, new Map()).fillObject(schema, 0);
}

/** The number of a text's numbers that a tool could use. */
export function countNumberFields(schema: JsonObject): number {
  return propertiesOf(schema).filter(([, property]) => ["number", "integer"].includes(typeOf(property)))
    .length;
}

const propertiesOf = ({ properties }: JsonObject) =>
  isJsonObject(properties) ? Object.entries(properties) : [];

const listOf = (value: Json | undefined) => (Array.isArray(value) ? value : []);

function typeOf(schema: Json | undefined): string {
  if (!isJsonObject(schema)) return "";
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  return typeof type === "string" ? type : "";
}

function fits(value: Json, type: string): boolean {
  if (type === "integer") return Number.isInteger(value);
  return isJsonObject(value) ? type === "object" : typeof value === type;
}

const numberOf = (value: Json | undefined, otherwise: number) =>
  typeof value === "number" ? value : otherwise;

class Filler {
  readonly #text: string;
  readonly #facts: ReadonlyMap<string, Json>;
  readonly #numbers: string[];

  constructor(text: string, facts: ReadonlyMap<string, Json>) {
    this.#text = text;
    this.#facts = facts;
    this.#numbers = findNumbers(text);
  }

  fill(schema: Json | undefined, field: string, depth: number): Json {
    if (!isJsonObject(schema) || depth > 6) return subjectFor(field, this.#text);
    if (schema.const !== undefined) return schema.const;
    const values = listOf(schema.enum);
    if (values.length > 0) {
      const lower = this.#text.toLowerCase();
      const named = values.find((value) => typeof value === "string" && lower.includes(value.toLowerCase()));
      return named ?? schema.default ?? values[0] ?? null;
    }
    if (schema.default !== undefined) return schema.default;
    const branch = listOf(schema.anyOf)[0] ?? listOf(schema.oneOf)[0];
    if (branch !== undefined) return this.fill(branch, field, depth + 1);
    const type = typeOf(schema);
    const fact = this.#facts.get(field);
    if (fact !== undefined && fits(fact, type)) return fact;
    if (type === "object" || (type === "" && isJsonObject(schema.properties)))
      return this.fillObject(schema, depth + 1);
    if (type === "array") {
      const length = Math.min(numberOf(schema.minItems, 1), 10);
      return Array.from({ length }, () => this.fill(schema.items, field, depth + 1));
    }
    if (type === "number" || type === "integer") return this.#takeNumber(schema);
    if (type === "boolean") return true;
    return type === "null" ? null : createText(schema, this.#text, field);
  }

  fillObject(schema: JsonObject, depth: number): JsonObject {
    const properties = propertiesOf(schema);
    const required = listOf(schema.required);
    const wanted = (
      required.length > 0 ? properties.filter(([name]) => required.includes(name)) : properties
    ).slice(0, 50);
    const isWhole = ([, property]: [string, Json]) => typeOf(property) === "integer";
    const inTurn = [...wanted.filter(isWhole), ...wanted.filter((each) => !isWhole(each))];
    const values = new Map(inTurn.map(([name, property]) => [name, this.fill(property, name, depth)]));
    return Object.fromEntries(wanted.map(([name]) => [name, values.get(name) ?? null]));
  }

  #takeNumber({ type, minimum, maximum }: JsonObject): number {
    const isInteger = type === "integer";
    const index = isInteger ? this.#numbers.findIndex((number) => !number.includes(".")) : 0;
    const [taken = 1] = this.#numbers.splice(Math.max(index, 0), 1);
    const found = isInteger ? Math.round(Number(taken)) : Number(taken);
    return Math.min(numberOf(maximum, Infinity), Math.max(numberOf(minimum, -Infinity), found));
  }
}

function createText(schema: JsonObject, text: string, field: string): string {
  if (schema.format === "date") return /\d{4}-\d\d-\d\d/.exec(text)?.[0] ?? "2026-01-01";
  if (schema.format === "date-time") return "2026-01-01T00:00:00Z";
  if (schema.format === "email")
    return /[^\s@]{1,64}@[^\s@]{1,100}\.\w{2,20}/.exec(text)?.[0] ?? "someone@example.com";
  if (schema.format === "uri") return /https?:\/\/[^\s"'<>]+/.exec(text)?.[0] ?? "https://example.com/";
  const subject = subjectFor(field, text);
  const shortest = Math.min(numberOf(schema.minLength, 0), 1000);
  return subject.slice(0, numberOf(schema.maxLength, subject.length)).padEnd(shortest, "x");
}

function subjectFor(field: string, text: string): string {
  const beginning = text.trim().slice(0, 200);
  if (MESSAGE_FIELD.test(field)) return beginning;
  const identifier = findQuoted(text) ?? (NAME_FIELD.test(field) ? undefined : findIdentifier(text));
  if (identifier !== undefined) return identifier;
  const name = findName(text);
  const counted = findCounted(text);
  if (COUNTED_FIELD.test(field)) return counted ?? name ?? findTopic(text) ?? beginning;
  if (name !== undefined || counted !== undefined) return name ?? counted ?? beginning;
  return beginning.length <= SHORT && !beginning.includes("?") ? beginning : (findTopic(text) ?? beginning);
}
