import { z } from "zod";
import { isContainer, type Json, keysOf, writeJson } from "@/server/base/json/json";

// A short JSON text, or the size of a list or object. Null: the expression found nothing.
const shownValue = z.string().nullable();

/** The reason why a step was skipped, as the input of its row holds it. */
export const skipNote = z.object({
  by: z.enum(["if", "forEach"]),
  expression: z.string(),
  value: shownValue,
  /** The values of the paths in the expression, such as `steps.fetch.state`. */
  read: z.array(z.object({ path: z.string(), value: shownValue })),
});
export type SkipNote = z.infer<typeof skipNote>;

/** More paths of one expression are not shown. */
export const MAX_SHOWN_PATHS = 8;
const MAX_EXPRESSION = 1_000;
const MAX_TEXT = 80;

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)}…` : text);
const plural = (count: number, word: string) => `${count} ${word}${count === 1 ? "" : "s"}`;

export function createSkipNote(
  by: SkipNote["by"],
  expression: string,
  found: { value: Json | undefined; read: readonly { path: string; value: Json | undefined }[] },
): SkipNote {
  const read = found.read.map(({ path, value }) => ({ path, value: showValue(value) }));
  return { by, expression: cut(expression, MAX_EXPRESSION), value: showValue(found.value), read };
}

function showValue(value: Json | undefined): string | null {
  if (value === undefined) return null;
  if (Array.isArray(value)) return value.length === 0 ? "[]" : plural(value.length, "item");
  if (isContainer(value)) {
    const keys = keysOf(value).length;
    return keys === 0 ? "{}" : `an object with ${plural(keys, "key")}`;
  }
  return writeJson(typeof value === "string" ? cut(value, MAX_TEXT) : value);
}
