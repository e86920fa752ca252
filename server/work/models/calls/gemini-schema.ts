import { isJsonObject, type Json, type JsonObject, markJson, writeJson } from "@/server/base/json/json";
import { perOwner } from "@/server/base/per-owner";
import {
  followed,
  isOver,
  type Limits,
  mayFollow,
  openDocument,
  type Visit,
  withTypes,
} from "./gemini-references";
import { distinct, mergeObject, startMerging } from "./object-schema";
import { simplified, typed, typeOf } from "./portable-schema";

/**
 * Schemas as Gemini and Vertex take them, which is less than their documentation of `Schema` says: references are
 * replaced, `anyOf` stands alone (jenslys/opencode-gemini-auth#57), each schema has one type (P0luz/Ombre-Brain#119), and
 * only texts have `enum` (anomalyco/opencode#28397).
 */
export const geminiSchema = perOwner((schema: JsonObject) => markJson(converted(schema, true)));

/** The same for servers that reject objects without properties: such an object is requested as JSON text. */
export const geminiFilledSchema = perOwner((schema: JsonObject) => markJson(converted(schema, false)));

// References can multiply. The first limits apply under which they add few characters.
const LIMITS: readonly Limits[] = [
  { references: 32, cutsTexts: false },
  { references: 8, cutsTexts: false },
  { references: 4, cutsTexts: false },
  { references: 2, cutsTexts: false },
  { references: 2, cutsTexts: true },
  { references: 1, cutsTexts: true },
];
const MIN_CHARACTERS = 65_536;
// Of a description or choices that repeated references share.
const MAX_REPEATED = 200;
const PER_SCHEMA = 30;

function converted(schema: JsonObject, allowsEmpty: boolean): JsonObject {
  const root = simplified(schema);
  const most = Math.max(MIN_CHARACTERS, writeJson(schema).length);
  const document = { ...openDocument(schema), allowsEmpty };
  let found: JsonObject = {};
  for (const limits of LIMITS) {
    const left = { characters: most };
    const start = { refs: [], level: 0, depth: 0, isBrief: false, seen: new Set<string>() };
    found = convert(root, { ...document, ...start, limits, left });
    if (left.characters >= 0) break;
  }
  return found;
}

function convert(given: JsonObject, visit: Visit): JsonObject {
  const { $ref, ...own } = given;
  const deeper = { ...visit, depth: visit.depth + 1 };
  if (typeof $ref === "string") {
    const target = visit.resolve($ref) ?? {};
    if (mayFollow($ref, visit)) return convert({ ...target, ...own }, followed([$ref], visit));
    return convert(withTypes(own, target, visit), deeper);
  }
  const isLong = typeof own.description === "string" && own.description.length > MAX_REPEATED;
  const about = {
    ...(typeof own.description === "string" &&
      !(visit.isBrief && isLong) && { description: own.description }),
  };
  const { allOf, ...rest } = own;
  if (Array.isArray(allOf)) return combined(rest, allOf.filter(isJsonObject), visit);
  const schema = typed(rest);
  const { anyOf } = schema;
  const isObject = schema.type === "object";
  if (Array.isArray(anyOf) && isObject) return ofForms(schema, anyOf.filter(isJsonObject), visit);
  if (Array.isArray(anyOf) && schema.type === undefined) return union(anyOf, about, deeper);
  const values = choicesIn(schema);
  const allTypes = [schema.type ?? values?.map(typeOf) ?? []].flat();
  const types = new Set(allTypes.filter((each) => each !== "null"));
  const [first = "null"] = types;
  const type = schema.type === undefined && types.size > 1 ? "string" : first;
  const isNullable = schema.nullable === true || allTypes.includes("null");
  const stated = { ...about, ...choices(type, values, { about, isBrief: visit.isBrief }) };
  if (visit.level > 0) visit.left.characters -= writeJson(stated).length + PER_SCHEMA;
  return {
    type,
    ...stated,
    ...(type !== "null" && isNullable && { nullable: true }),
    ...(type === "array" && { items: part(schema.items ?? {}, deeper) }),
    ...(type === "object" && members(schema, deeper)),
  };
}

// Parts of an object, or keywords of one value.
function combined(own: JsonObject, parts: readonly JsonObject[], visit: Visit): JsonObject {
  const [only = {}, ...others] = parts;
  const isOne = others.length === 0 && !["properties", "required", "anyOf"].some((key) => key in own);
  if (isOne) return convert({ ...only, ...own }, { ...visit, depth: visit.depth + 1 });
  const all = withTypes({}, { ...own, allOf: [...parts] }, visit);
  const kept = isOver(visit)
    ? []
    : parts.filter(({ $ref }) => typeof $ref !== "string" || mayFollow($ref, visit));
  const next = followed(refsOf(kept), visit);
  if (all.type === "object") return convert(merged({ ...own, allOf: kept }, visit), next);
  const keywords = kept.map(({ $ref, ...rest }) => ({
    ...(typeof $ref === "string" && visit.resolve($ref)),
    ...rest,
  }));
  const whole: JsonObject = Object.assign({}, ...keywords, own);
  return convert(kept.length === parts.length ? whole : { ...all, ...whole }, next);
}

function ofForms({ anyOf, ...own }: JsonObject, forms: readonly JsonObject[], visit: Visit): JsonObject {
  const refs = refsOf(forms);
  const isWhole = !isOver(visit) && refs.every((each) => mayFollow(each, visit));
  return isWhole
    ? convert(merged({ ...own, ...(anyOf && { anyOf }) }, visit), followed(refs, visit))
    : convert(own, { ...visit, depth: visit.depth + 1 });
}

const refsOf = (parts: readonly JsonObject[]) =>
  parts.flatMap(({ $ref }) => (typeof $ref === "string" ? [$ref] : []));

const merged = (schema: JsonObject, { resolve, known }: Visit) =>
  mergeObject(schema, { ...startMerging(resolve), known });

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

type About = { about: { description?: string }; isBrief: boolean };

// Also those of a value whose forms have titles.
function choicesIn({ enum: values, anyOf }: JsonObject): Json[] | undefined {
  if (Array.isArray(values) || !Array.isArray(anyOf)) return Array.isArray(values) ? values : undefined;
  const ofForms = anyOf.map((form) => (isJsonObject(form) ? form.enum : undefined));
  return ofForms.every((each) => Array.isArray(each)) ? distinct(ofForms.flat()) : undefined;
}

function choices(type: Json, values: readonly Json[] = [], { about, isBrief }: About): JsonObject {
  const kept = values.filter((value) => value !== null && value !== "");
  if (kept.length === 0 || (isBrief && writeJson(kept).length > MAX_REPEATED)) return {};
  if (type === "string")
    return { enum: kept.map((value) => (typeof value === "string" ? value : writeJson(value))) };
  const stated = `One of: ${kept.map((value) => writeJson(value)).join(", ")}`;
  return { description: [about.description, stated].filter(Boolean).join(" ") };
}

function members({ properties, required }: JsonObject, visit: Visit): JsonObject {
  const held = Object.entries(isJsonObject(properties) ? properties : {});
  if (held.length === 0) return {};
  const names = new Set(held.map(([name]) => name));
  if (visit.level > 0) visit.left.characters -= [...names].join("").length;
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
