import { isJsonObject, type Json } from "@/server/json";

/** Largest output of a function that is kept whole, in bytes of JSON (product.md, "Sizes"). */
export const MAX_OUTPUT_BYTES = 1024 * 1024;
/** Characters of a cut output that are kept. */
const PREVIEW_LENGTH = 4_096;

/**
 * The one way by which an output reaches a row: U+0000 becomes U+FFFD, and the document stays valid JSON. One over
 * the limit is `cut` to `{"truncated": true, "bytes": N, "preview": "…"}` for agents, or refused for workflows.
 * Whatever reads the output later reads what is stored, never the raw one. Redaction belongs here too.
 */
export function storeOutput(output: Json, overflow: "cut" | "refuse"): { text: string } | { error: string } {
  const text = JSON.stringify(withoutNul(output));
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_OUTPUT_BYTES) return { text };
  if (overflow === "refuse")
    return { error: `The output is too large: ${bytes} bytes of at most ${MAX_OUTPUT_BYTES}.` };
  // Cut between characters: half a surrogate pair would not survive UTF-8.
  const preview = text.slice(0, PREVIEW_LENGTH).replace(/[\uD800-\uDBFF]$/, "");
  return { text: JSON.stringify({ truncated: true, bytes, preview }) };
}

/** A text without U+0000, which PostgreSQL cannot hold. */
export function replaceNul(text: string): string {
  return text.replaceAll("\0", "\uFFFD");
}

function withoutNul(value: Json): Json {
  if (typeof value === "string") return replaceNul(value);
  if (Array.isArray(value)) return value.map(withoutNul);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [replaceNul(key), withoutNul(item)]));
}
