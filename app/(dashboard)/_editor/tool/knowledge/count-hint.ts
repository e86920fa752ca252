import { memberOf } from "@/server/base/json/json";

const NAME = "(?:[A-Za-z_]\\w*|`[^`]+`)";
const COUNTED = new RegExp(`\\$count\\(\\s*(steps(?:\\.${NAME})+)\\s*\\)`, "g");

/**
 * Warns of `$count` of a value that the last outputs don't have, because JSONata counts null as one value. Null: no
 * warning, or nothing is known.
 */
export function warnOfCount(
  expression: string,
  outputs: ReadonlyMap<string, unknown> = new Map(),
): string | null {
  for (const [, path = ""] of expression.matchAll(COUNTED)) {
    const [, id = "", ...fields] = (path.match(new RegExp(NAME, "g")) ?? []).map((name) =>
      name.replaceAll("`", ""),
    );
    if (!outputs.has(id)) continue;
    const value = fields.reduce(fieldOf, outputs.get(id));
    if (value === null)
      return `${path} was null in the last output. $count of null is 1: compare with ${path} != null.`;
    if (value === undefined) return `The last output has no ${path}.`;
  }
  return null;
}

/** Returns lists unchanged, because a path leads into each of their items. */
const fieldOf = (value: unknown, field: string): unknown =>
  Array.isArray(value) ? value : memberOf(value, field);
