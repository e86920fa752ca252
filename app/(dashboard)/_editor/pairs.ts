import { isJsonObject, writeJson } from "@/server/base/json/json";
import type { Field } from "../_schema/field";

/** One row of an object that is edited by names and values. */
export type Pair = { key: number; name: string; value: unknown };

const isScalar = (value: unknown) => value === null || typeof value !== "object";

/**
 * Null unless the schema is an object with texts by any name, such as headers. `lists`: a name can have several
 * texts.
 */
export function pairsOf({ type, isOpen, keywords }: Field): { lists: boolean } | null {
  const { additionalProperties: of } = keywords;
  if (type !== "object" || !isOpen || !isJsonObject(of)) return null;
  const types = typesOf(of);
  return types.includes("string") ? { lists: types.includes("array") } : null;
}

function typesOf(schema: unknown): unknown[] {
  if (!isJsonObject(schema)) return [];
  const { type, anyOf } = schema;
  return [...[type].flat(), ...(Array.isArray(anyOf) ? anyOf.flatMap(typesOf) : [])];
}

/** The rows of a value; null if they cannot show it. A list is a row for each item. */
export function readPairs(value: unknown, { lists }: { lists: boolean }): Pair[] | null {
  if (value === undefined) return [];
  if (!isJsonObject(value)) return null;
  const rows: Omit<Pair, "key">[] = [];
  for (const [name, of] of Object.entries(value)) {
    const items: unknown[] = Array.isArray(of) ? of : [of];
    const isShown = items.every(isScalar) && (!Array.isArray(of) || (lists && of.length > 1));
    if (name === "" || !isShown) return null;
    rows.push(...items.map((item) => ({ name, value: item })));
  }
  return rows.map((row, key) => ({ ...row, key }));
}

/** The value of rows: without those that have no name; undefined if none has. A name twice is a list, or its first row. */
export function writePairs(
  rows: readonly Pair[],
  { lists }: { lists: boolean },
): Record<string, unknown> | undefined {
  const values = new Map<string, unknown[]>();
  for (const { name, value } of rows) {
    if (name !== "") values.set(name, [...(values.get(name) ?? []), value]);
  }
  if (values.size === 0) return undefined;
  return Object.fromEntries(
    [...values].map(([name, items]) => [name, lists && items.length > 1 ? items : items[0]]),
  );
}

/** The names that stand twice although they cannot. */
export function doubledNames(rows: readonly Pair[]): string[] {
  const names = rows.map(({ name }) => name.toLowerCase()).filter((name) => name !== "");
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}

export const textOfPair = (value: unknown) => (typeof value === "string" ? value : writeJson(value));
