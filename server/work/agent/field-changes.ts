import { writeJson } from "@/server/base/json/json";
/** A field's old and new value; null: not set. Multi-line texts are compared by lines. */
export type FieldChange = { field: string; from: string | null; to: string | null };

/** A definition as texts, field by field, in display order. */
export type Fields = ReadonlyMap<string, string>;

/** The fields that differ; with `earlier` null, all fields. */
export function compareFields(earlier: Fields | null, later: Fields): FieldChange[] {
  const names = new Set([...(earlier?.keys() ?? []), ...later.keys()]);
  return [...names].flatMap((field) => {
    const from = earlier?.get(field) ?? null;
    const to = later.get(field) ?? null;
    return from === to ? [] : [{ field, from, to }];
  });
}

const wordsOf = (field: string) => field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** A field's name as a label: `Max steps`. */
export function labelOf(field: string): string {
  const words = wordsOf(field);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The meaning of a setting and its default in words: the last sentence of its description, or its schema's. */
export function explainSetting({
  description,
  default: preset,
}: {
  description?: unknown;
  default?: unknown;
}) {
  const [meaning = "", inWords] = String(description ?? "").split(/ ?Default: /);
  const declared = typeof preset === "string" ? preset : writeJson(preset ?? null);
  return { meaning, preset: inWords?.replace(/\.$/, "") ?? declared };
}

const asJson = (value: unknown) => writeJson(value, 2);

/** An agent's settings, without those that are not set. `write` writes objects. */
export function settingsFields(
  settings: object,
  write: (value: unknown) => string = asJson,
): [string, string][] {
  return Object.entries(settings).flatMap(([field, value]: [string, unknown]): [string, string][] => {
    const isUnset =
      value === undefined || value === null || (field === "policies" && writeJson(value) === "{}");
    if (isUnset) return [];
    if (Array.isArray(value)) return [[wordsOf(field), value.join("\n")]];
    const isPlain = typeof value !== "object";
    return [[wordsOf(field), isPlain ? String(value) : write(value)]];
  });
}

export function workflowFields(
  definition: object,
  write: (value: unknown) => string = asJson,
): [string, string][] {
  return Object.entries(definition).map(([field, value]) => [wordsOf(field), write(value)]);
}
