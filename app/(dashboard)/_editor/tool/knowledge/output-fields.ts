import { isJsonObject, writeJson } from "@/server/base/json/json";
import { quoted } from "@/server/work/expressions/quoted";

type NamedValue = { name: string; preview: string };

const MAX_FIELDS = 40;
const MAX_DEPTH = 4;

/** The fields of a value and their fields, of lists those of the first item. */
export function fieldsOf(name: string, value: unknown): NamedValue[] {
  const found: NamedValue[] = [];
  const add = (at: string, of: unknown, depth: number) => {
    if (found.length >= MAX_FIELDS) return;
    if (depth > 0) found.push({ name: at, preview: previewOf(of) });
    if (depth >= MAX_DEPTH) return;
    if (Array.isArray(of)) {
      if (of.length > 0) add(`${at}[0]`, of[0], depth + 1);
    } else if (isJsonObject(of))
      for (const [key, each] of Object.entries(of)) add(`${at}.${quoted(key)}`, each, depth + 1);
  };
  add(name, value, 0);
  return found;
}

/** The start of a value, or its size. */
export function previewOf(value: unknown): string {
  if (Array.isArray(value)) return `list of ${value.length}`;
  if (isJsonObject(value)) return `{${Object.keys(value).length}}`;
  const text = writeJson(value);
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
