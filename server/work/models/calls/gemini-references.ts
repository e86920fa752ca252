import { isJsonObject, type JsonObject } from "@/server/base/json/json";
import { perOwner } from "@/server/base/per-owner";
import { resolveReference } from "./object-schema";
import { simplifiedPart, typed, typeOf } from "./portable-schema";

const MAX_DEPTH = 64;
const SCALARS = ["string", "number", "integer", "boolean"];

/** References within references, and long texts of those that repeat. */
export type Limits = { references: number; cutsTexts: boolean };

type Resolve = (reference: string) => JsonObject | undefined;
type OpenDocument = {
  resolve: Resolve;
  typesOf: (schema: JsonObject) => string[];
  /** Merged objects. */
  known: Map<JsonObject, JsonObject>;
};

/** A place within a document whose references are replaced by their schemas. */
export type Visit = OpenDocument & {
  allowsEmpty: boolean;
  limits: Limits;
  refs: readonly string[];
  level: number;
  depth: number;
  isBrief: boolean;
  seen: Set<string>;
  left: { characters: number };
};

/** References name the given schemas, and get them simplified. */
export function openDocument(root: JsonObject): OpenDocument {
  const targets = new Map<string, JsonObject | undefined>();
  const simple = perOwner(simplifiedPart);
  const resolve = (reference: string) => {
    if (targets.has(reference)) return targets.get(reference);
    const given = resolveReference(root, reference);
    const target = given === undefined ? undefined : simple(given);
    targets.set(reference, target);
    return target;
  };
  const typesOf = perOwner((schema: JsonObject) => [...new Set(typesIn(schema, resolve, new Set()))]);
  return { resolve, typesOf, known: new Map() };
}

/** Returns true if references and combinations have added too much. */
export const isOver = ({ depth, level, left }: Visit): boolean =>
  depth > MAX_DEPTH || (level > 0 && left.characters <= 0);

/** Returns true if a reference is replaced. Those to scalars always are: they hold no others. */
export function mayFollow(reference: string, visit: Visit): boolean {
  const target = visit.resolve(reference);
  if (target === undefined) return false;
  const isPlain = !("$ref" in target || "allOf" in target);
  if (isPlain && SCALARS.includes(String(typed(target).type))) return true;
  const { limits, level, refs, left } = visit;
  return !isOver(visit) && left.characters > 0 && level < limits.references && !refs.includes(reference);
}

/** The place within the schemas that references name. */
export function followed(references: readonly string[], visit: Visit): Visit {
  const { seen, limits, left } = visit;
  const isRepeated = references.some((each) => seen.has(each));
  for (const each of references) seen.add(each);
  return {
    ...visit,
    refs: [...visit.refs, ...references],
    level: visit.level + 1,
    depth: visit.depth + 1,
    isBrief: visit.isBrief || (isRepeated && (limits.cutsTexts || left.characters <= 0)),
  };
}

/** The keywords, and the types of a schema that is not included. */
export function withTypes(own: JsonObject, schema: JsonObject, { typesOf }: Visit): JsonObject {
  const [type, ...others] = typesOf(schema);
  if (type === undefined || own.type !== undefined) return own;
  return {
    ...(others.length === 0 ? { type } : { anyOf: [type, ...others].map((each) => ({ type: each })) }),
    ...own,
  };
}

function typesIn(schema: JsonObject, resolve: Resolve, seen: Set<string>): string[] {
  const { type, enum: values, $ref, anyOf, allOf } = schema;
  if (type !== undefined) return [type].flat().filter((each) => typeof each === "string");
  if (Array.isArray(values)) return values.map(typeOf);
  if ("properties" in schema) return ["object"];
  if ("items" in schema || "prefixItems" in schema) return ["array"];
  const inner = (part: JsonObject) => typesIn(part, resolve, seen);
  if (typeof $ref === "string") {
    if (seen.has($ref)) return [];
    seen.add($ref);
    return inner(resolve($ref) ?? {});
  }
  if (Array.isArray(anyOf)) return anyOf.filter(isJsonObject).flatMap(inner);
  const parts = Array.isArray(allOf) ? allOf.filter(isJsonObject) : [];
  return parts.map(inner).find((types) => types.length > 0) ?? [];
}
