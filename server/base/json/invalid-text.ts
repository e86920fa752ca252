import { isContainer, type Json, keysOf } from "./json";

/** Characters that PostgreSQL or UTF-8 cannot hold. */
export type InvalidText = "U+0000" | "an unpaired surrogate";

/** The invalid characters in a text; null for a valid one. */
export function describeInvalidText(text: string): InvalidText | null {
  if (text.includes("\0")) return "U+0000";
  return text.isWellFormed() ? null : "an unpaired surrogate";
}

/** The first text or key in a value that is invalid, with its path; null if all are valid. */
export function findInvalidText(value: Json): { path: PropertyKey[]; found: InvalidText } | null {
  if (typeof value === "string") {
    const found = describeInvalidText(value);
    return found === null ? null : { path: [], found };
  }
  if (!isContainer(value)) return null;
  // Only a hit creates a path, because bodies have 500,000 values.
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const invalid = findInvalidText(item);
      if (invalid !== null) return { ...invalid, path: [index, ...invalid.path] };
    }
    return null;
  }
  for (const key of keysOf(value)) {
    const found = describeInvalidText(key);
    const invalid = found === null ? findInvalidText(value[key] ?? null) : { path: [], found };
    if (invalid !== null) return { ...invalid, path: [key, ...invalid.path] };
  }
  return null;
}
