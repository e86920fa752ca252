import { isJsonObject, type Json, type JsonObject, markJson, writeJson } from "@/server/base/json/json";
import { perOwner } from "@/server/base/per-owner";
import { distinct, type Merging, mergeObject, resolveReference, startMerging } from "./object-schema";
import { simplified, typed } from "./portable-schema";

/**
 * Schemas as Gemini and Vertex take them, which is less than their documentation of `Schema` says: references are
 * replaced, `anyOf` stands alone (jenslys/opencode-gemini-auth#57), each schema has one type (P0luz/Ombre-Brain#119), and
 * only texts have `enum` (anomalyco/opencode#28397).
 */
export const geminiSchema = perOwner((schema: JsonObject) => markJson(converted(schema, true)));

/** The same for servers that reject objects without properties: such an object is requested as JSON text. */
export const geminiFilledSchema = perOwner((schema: JsonObject) => markJson(converted(schema, false)));

// References can multiply.
const MAX_PARTS = 2_000;
const MAX_DEPTH = 64;

type Visit = {
  root: JsonObject;
  merging: Merging;
  allowsEmpty: boolean;
  refs: readonly string[];
  depth: number;
  left: { parts: number };
};

function converted(schema: JsonObject, allowsEmpty: boolean): JsonObject {
  const root = simplified(schema);
  const merging = startMerging((reference) => resolveReference(root, reference));
  return convert(root, { root, merging, allowsEmpty, refs: [], depth: 0, left: { parts: MAX_PARTS } });
}

function convert(given: JsonObject, visit: Visit): JsonObject {
  visit.left.parts -= 1;
  const { $ref, ...own } = given;
  const about = { ...(typeof own.description === "string" && { description: own.description }) };
  if (visit.left.parts < 0 || visit.depth > MAX_DEPTH) return { type: "object", ...about };
  if (typeof $ref === "string") {
    const target = visit.refs.includes($ref) ? undefined : resolveReference(visit.root, $ref);
    if (target === undefined) return { type: "object", ...about };
    return convert({ ...target, ...own }, { ...visit, refs: [...visit.refs, $ref], depth: visit.depth + 1 });
  }
  const deeper = { ...visit, depth: visit.depth + 1 };
  const { allOf, ...rest } = own;
  if (Array.isArray(allOf)) return convert(combined(rest, allOf, visit.merging), deeper);
  const schema = typed(rest);
  const { anyOf } = schema;
  const isObject = schema.type === "object";
  if (Array.isArray(anyOf) && isObject) return convert(mergeObject(schema, visit.merging), deeper);
  if (Array.isArray(anyOf) && schema.type === undefined) return union(anyOf, about, deeper);
  const types = [schema.type].flat().filter((each) => each !== "null");
  const [type = "null"] = types;
  const isNullable = schema.nullable === true || [schema.type].flat().includes("null");
  return {
    type,
    ...about,
    ...(type !== "null" && isNullable && { nullable: true }),
    ...choices(type, schema, about),
    ...(type === "array" && { items: part(schema.items ?? {}, deeper) }),
    ...(type === "object" && members(schema, deeper)),
  };
}

// Parts of an object, or keywords of one value.
function combined(own: JsonObject, allOf: readonly Json[], merging: Merging): JsonObject {
  const parts = allOf.filter(isJsonObject).map(({ $ref, ...rest }) => ({
    ...(typeof $ref === "string" && merging.resolve($ref)),
    ...rest,
  }));
  const whole: JsonObject = Object.assign({}, ...parts, own);
  const isObject = whole.type === "object" || "properties" in whole;
  return isObject ? mergeObject({ ...own, allOf: [...allOf] }, merging) : whole;
}

function union(branches: readonly Json[], about: { description?: string }, visit: Visit): JsonObject {
  const found = branches
    .filter(isJsonObject)
    .map((each) => filled(convert(each, visit), visit))
    .flatMap((each) => (Array.isArray(each.anyOf) ? each.anyOf.filter(isJsonObject) : [each]));
  const isNull = ({ type }: JsonObject) => type === "null";
  const [first, ...others] = distinct(found.filter((each) => !isNull(each)));
  if (first === undefined) return { type: "null", ...about };
  // `anyOf` can have no description beside it.
  const description = [about.description, first.description].filter(Boolean).join(" ");
  const held = [{ ...first, ...(description !== "" && { description }) }, ...others].map((each) =>
    found.some(isNull) ? { ...each, nullable: true } : each,
  );
  return others.length === 0 ? { ...held[0] } : { anyOf: held };
}

function choices(type: Json, { enum: values }: JsonObject, about: { description?: string }): JsonObject {
  if (!Array.isArray(values)) return {};
  const kept = values.filter((value) => value !== null && value !== "");
  if (kept.length === 0) return {};
  if (type === "string")
    return { enum: kept.map((value) => (typeof value === "string" ? value : writeJson(value))) };
  const stated = `One of: ${kept.map((value) => writeJson(value)).join(", ")}`;
  return { description: [about.description, stated].filter(Boolean).join(" ") };
}

function members({ properties, required }: JsonObject, visit: Visit): JsonObject {
  const held = Object.entries(isJsonObject(properties) ? properties : {});
  if (held.length === 0) return {};
  const names = new Set(held.map(([name]) => name));
  const known = (Array.isArray(required) ? required : []).filter((name) => names.has(String(name)));
  return {
    properties: Object.fromEntries(held.map(([name, each]) => [name, part(each, visit)])),
    ...(known.length > 0 && { required: known }),
  };
}

function part(schema: Json, visit: Visit): JsonObject {
  const found = filled(convert(isJsonObject(schema) ? schema : {}, visit), visit);
  return found.type === "null" ? { ...found, type: "string", nullable: true } : found;
}

function filled(schema: JsonObject, { allowsEmpty }: Visit): JsonObject {
  if (allowsEmpty || schema.type !== "object" || "properties" in schema) return schema;
  const description = [schema.description, "A JSON object, as text."].filter(Boolean).join(" ");
  return { ...schema, type: "string", description };
}
