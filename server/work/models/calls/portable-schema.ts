import { isExactNumber } from "@/server/base/json/exact-number";
import { isJsonObject, type Json, type JsonObject, markJson } from "@/server/base/json/json";
import { perOwner } from "@/server/base/per-owner";

// Common servers reject these (Gemini: langchain-ai/langchainjs#8584). The complete schema validates.
const REJECTED = new Set([
  "$schema",
  "$comment",
  "propertyNames",
  "unevaluatedProperties",
  "unevaluatedItems",
  "dependentRequired",
  "dependentSchemas",
]);
// The grammars of some servers cannot express these.
const SIMPLE_REJECTED = new Set([
  ...REJECTED,
  ...["pattern", "format", "minLength", "maxLength", "patternProperties"],
  ...["minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "not"],
  ...["if", "then", "else", "additionalProperties", "examples", "deprecated", "readOnly", "writeOnly"],
]);
const SCHEMA = new Set(["items", "contains", "not", "if", "then", "else"]);
const LISTS = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const MAPS = new Set(["properties", "patternProperties", "$defs", "definitions"]);
const TYPED = ["type", "anyOf", "oneOf", "allOf", "$ref", "not"];
const MAX_DEPTH = 64;

const SCALARS = [{ type: "string" }, { type: "number" }, { type: "boolean" }, { type: "object" }];
// Some servers reject a property without a type.
const ANY = [...SCALARS, { type: "array", items: { anyOf: SCALARS } }];

/**
 * The schema that models get: without keywords that servers reject, every property with a type. Numbers that a
 * double cannot hold are marked.
 */
export const portableSchema = perOwner((schema: JsonObject) => markJson(reduced(schema, 0, REJECTED)));

/** The schema with few keywords, for servers that turn it into a grammar. */
export const simpleSchema = perOwner((schema: JsonObject) => markJson(simplified(schema)));

export const simplified = (schema: JsonObject): JsonObject => reduced(schema, 0, SIMPLE_REJECTED);

/** The same for a part of a schema, which has one type. */
export const simplifiedPart = (schema: JsonObject): JsonObject => reduced(schema, 1, SIMPLE_REJECTED);

function reduced(schema: JsonObject, depth: number, rejected: ReadonlySet<string>): JsonObject {
  const parts = reducedParts(withTuple(schema), depth, rejected);
  return depth === 0 ? withItems(parts) : withOneType(parts);
}

// The form of draft-07 (NousResearch/hermes-agent#20976).
function withTuple(schema: JsonObject): JsonObject {
  const { items, ...rest } = schema;
  if (!Array.isArray(items)) return schema;
  return items.length === 0 ? rest : { ...rest, prefixItems: items };
}

// OpenAI requires them, also beside `prefixItems` (langchain-ai/langchain#24225, AnswerDotAI/fastcore#798).
function withItems(schema: JsonObject): JsonObject {
  const { type, items, prefixItems } = schema;
  const isArray = type === "array" || (Array.isArray(type) && type.includes("array"));
  if (!isArray || items !== undefined) return schema;
  const isTuple = Array.isArray(prefixItems) && prefixItems.length > 0;
  return { ...schema, items: { anyOf: isTuple ? prefixItems : SCALARS } };
}

function reducedParts(given: JsonObject, depth: number, rejected: ReadonlySet<string>): JsonObject {
  if (depth > MAX_DEPTH) return {};
  const schema = rejected === SIMPLE_REJECTED ? withCommonKeywords(given) : given;
  const deeper = (value: JsonObject) => reduced(value, depth + 1, rejected);
  const sub = (value: Json): Json =>
    isJsonObject(value) ? typed(deeper(value)) : value === true ? typed({}) : value;
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]): [string, Json][] => {
      if (rejected.has(key)) return [];
      if (MAPS.has(key) && isJsonObject(value)) {
        return [[key, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, sub(each)]))]];
      }
      if (LISTS.has(key) && Array.isArray(value)) {
        // Parts of a combination may leave the type to the whole.
        const part = (each: Json) => (isJsonObject(each) ? withItems(deeper(each)) : each);
        return [[key, value.map(part)]];
      }
      if (SCHEMA.has(key))
        return [[key, key === "items" ? sub(value) : isJsonObject(value) ? deeper(value) : value]];
      if (key !== "additionalProperties" || !isJsonObject(value)) return [[key, value]];
      const rest = deeper(value);
      return [[key, Object.keys(rest).length === 0 ? true : typed(rest)]];
    }),
  );
}

function withCommonKeywords({ const: value, oneOf, ...schema }: JsonObject): JsonObject {
  return {
    ...(oneOf !== undefined && { anyOf: oneOf }),
    ...schema,
    ...(value !== undefined && { enum: [value] }),
  };
}

// Gemini takes one type in each schema, and anyOf (aoci-spec/aoci-code#61). Keywords go with their type; a
// schema with others stays as it is.
function withOneType({ type, ...rest }: JsonObject): JsonObject {
  if (!Array.isArray(type)) return type === undefined ? rest : { type, ...rest };
  const whole = { type, ...rest };
  const types = [...new Set(type)].filter((each) => typeof each === "string");
  const about = Object.entries(rest).filter(([key]) => ABOUT.has(key));
  const branches = types.map((each) => withItems({ type: each, ...keywordsOf(each, rest) }));
  const placed = new Set([...ABOUT, "enum", ...types.flatMap((each) => [...(KEYWORDS.get(each) ?? [])])]);
  if (types.length === 0 || Object.keys(rest).some((key) => !placed.has(key))) return whole;
  const held = branches.filter((branch) => !Array.isArray(branch.enum) || branch.enum.length > 0);
  const [only, another] = held;
  if (only === undefined) return whole;
  return { ...Object.fromEntries(about), ...(another === undefined ? only : { anyOf: held }) };
}

const ABOUT = new Set(["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"]);
const NUMERIC = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const KEYWORDS: ReadonlyMap<string, readonly string[]> = new Map([
  [
    "object",
    ["properties", "required", "additionalProperties", "patternProperties", "minProperties", "maxProperties"],
  ],
  [
    "array",
    ["items", "prefixItems", "contains", "minContains", "maxContains", "minItems", "maxItems", "uniqueItems"],
  ],
  ["string", ["minLength", "maxLength", "pattern", "format"]],
  ["number", NUMERIC],
  ["integer", NUMERIC],
]);

function keywordsOf(type: string, schema: JsonObject): { enum?: Json[] } & JsonObject {
  const own = KEYWORDS.get(type) ?? [];
  const kept = Object.fromEntries(Object.entries(schema).filter(([key]) => own.includes(key)));
  if (!Array.isArray(schema.enum) || type === "null") return kept;
  const isOwn = (value: Json) => typeOf(value) === (type === "integer" ? "number" : type);
  return { ...kept, enum: schema.enum.filter(isOwn) };
}

/** The schema with a type, or with all of them. */
export function typed(schema: JsonObject): JsonObject {
  if (TYPED.some((key) => Object.hasOwn(schema, key))) return withItems(schema);
  const values = Array.isArray(schema.enum) ? schema.enum : "const" in schema ? [schema.const ?? null] : [];
  const types = new Set(values.map(typeOf));
  const [type] = types;
  if (type !== undefined) return types.size === 1 ? { type, ...schema } : schema;
  if ("properties" in schema) return { type: "object", ...schema };
  if ("items" in schema || "prefixItems" in schema) return withItems({ type: "array", ...schema });
  return { ...schema, anyOf: ANY };
}

export function typeOf(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return isExactNumber(value) ? "number" : typeof value;
}
