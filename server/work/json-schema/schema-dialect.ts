import { isJsonObject, type Json, type JsonObject } from "@/server/base/json/json";
import { isSchemaHolder, isSchemaMap } from "./schema-keywords";

const DIALECTS = {
  "2020-12": /\/draft\/2020-12\/schema$/,
  "2019-09": /\/draft\/2019-09\/schema$/,
  "draft-07": /\/draft-07\/schema$/,
};
export type Dialect = keyof typeof DIALECTS;
const NAMES: readonly Dialect[] = ["2020-12", "2019-09", "draft-07"];
const HOST = /^https?:\/\/json-schema\.org\//;

/** The dialect that a schema's `$schema` names, 2020-12 without one. Undefined: none of these. */
export function dialectOf({ $schema }: JsonObject): Dialect | undefined {
  if ($schema === undefined) return "2020-12";
  const address = typeof $schema === "string" ? $schema.replace(/#$/, "") : "";
  return HOST.test(address) ? NAMES.find((name) => DIALECTS[name].test(address)) : undefined;
}

/**
 * A schema as Ajv takes it: without `$schema`, which chooses the validator, and with patterns that compile with the
 * flag "u".
 */
export function normalizeSchema({ $schema: _, ...schema }: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).map(([keyword, held]) => normalizeKeyword(keyword, held)));
}

function normalizeKeyword(keyword: string, held: Json): [string, Json] {
  if (keyword === "pattern" && typeof held === "string") return [keyword, usablePattern(held) ?? held];
  if (isSchemaMap(keyword) && isJsonObject(held)) {
    const members = Object.entries(held).map(([name, child]): [string, Json] => [
      keyword === "patternProperties" ? (usablePattern(name) ?? name) : name,
      normalizeChild(child),
    ]);
    return [keyword, Object.fromEntries(members)];
  }
  if (!isSchemaHolder(keyword)) return [keyword, held];
  return [keyword, Array.isArray(held) ? held.map(normalizeChild) : normalizeChild(held)];
}

function normalizeChild(schema: Json): Json {
  return isJsonObject(schema) ? normalizeSchema(schema) : schema;
}

/**
 * A pattern that compiles with the flag "u", which JSON Schema asks for: many schemas have needless escapes such as
 * `\-`, or plain braces and brackets. Undefined if the pattern is none.
 */
export function usablePattern(pattern: string): string | undefined {
  return [pattern, withStrictSyntax(pattern)].find((each) => {
    try {
      return new RegExp(each, "u") instanceof RegExp;
    } catch {
      return false;
    }
  });
}

// ECMA-262, IdentityEscape and CharacterEscape.
const ESCAPABLE = /[A-Za-z0-9^$\\.*+?()[\]{}|/]/;

const TOKEN = /\\[pPu]\{[^}]*\}|\\[\s\S]|\{\d+(?:,\d*)?\}|[\s\S]/gu;
const SET = /^\\[dDsSwWpP]/;

// Removes needless escapes, and escapes characters that are plain only without the flag "u"
// (ajv-validator/ajv#2468).
function withStrictSyntax(pattern: string): string {
  const tokens = pattern.match(TOKEN) ?? [];
  let isClass = false;
  const strict = tokens.map((token, at) => {
    if (token === "[" && !isClass) isClass = true;
    else if (token === "]" && isClass) isClass = false;
    else if (!isClass && /^[{}\]]$/.test(token)) return `\\${token}`;
    else if (token === "-" && isClass) {
      const isBesideSet = [tokens[at - 1], tokens[at + 1]].some((beside = "") => SET.test(beside));
      return isBesideSet ? "\\-" : token;
    } else if (/^\\[^A-Za-z0-9]$/u.test(token)) {
      const [, escaped = ""] = [...token];
      return ESCAPABLE.test(escaped) || (isClass && escaped === "-") ? token : escaped;
    }
    return token;
  });
  return strict.join("");
}
