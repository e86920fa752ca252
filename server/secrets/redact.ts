import { isJsonObject, type Json } from "@/server/json";
import { MAX_JSON_DEPTH } from "@/server/json-text";

/** What is kept of a document that was too large: its first characters. */
const PREVIEW_LENGTH = 4096;
/** Shorter secrets would blot out ordinary text. */
const MIN_SECRET_LENGTH = 6;
const REDACTED = "[redacted]";

export type StoreableOptions = {
  /** Largest JSON text in UTF-8 bytes; beyond it only a preview is kept. */
  limitBytes: number;
  /** Texts that must not be kept, such as the values of secrets that a function was given. */
  secrets?: readonly string[];
};

/** A document as it may be stored, shown and fed back: `text` is the JSON of `value`. */
export type Storeable = {
  value: Json;
  text: string;
  /** Size of the whole document in bytes, before it was cut. */
  bytes: number;
  /** Whether the document was too large and `value` is `{"truncated": true, "bytes": N, "preview": "…"}`. */
  cut: boolean;
};

/**
 * The one way in which outputs of functions, tools and models become stored documents (product.md, "Sizes"): secrets
 * are blotted out, U+0000 and broken surrogates become U+FFFD, what nests deeper than 200 levels is left out, and what is
 * too large is cut. Doing it again changes nothing.
 */
export function storeable(value: Json, options: StoreableOptions): Storeable {
  const clean = makeCleaner(options.secrets ?? []);
  const kept = cleanValue(value, clean, 0);
  const text = JSON.stringify(kept);
  const bytes = Buffer.byteLength(text);
  if (bytes <= options.limitBytes) return { value: kept, text, bytes, cut: false };
  const whole = typeof kept === "string" ? kept : text;
  const preview = whole.slice(0, PREVIEW_LENGTH).toWellFormed();
  const cutValue = { truncated: true, bytes, preview };
  return { value: cutValue, text: JSON.stringify(cutValue), bytes, cut: true };
}

/** The same for plain text, such as a model's words or an error message; `maxLength` in characters. */
export function storeableText(text: string, maxLength: number, secrets: readonly string[] = []): string {
  const cleaned = makeCleaner(secrets)(text);
  return cleaned.length <= maxLength ? cleaned : `${cleaned.slice(0, maxLength - 1).toWellFormed()}…`;
}

function makeCleaner(secrets: readonly string[]): (text: string) => string {
  // The longest first: a secret may contain another one.
  const hidden = secrets
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .sort((a, b) => b.length - a.length);
  return (text) => {
    let cleaned = text;
    for (const secret of hidden) cleaned = cleaned.replaceAll(secret, REDACTED);
    return cleaned.replaceAll("\u0000", "\uFFFD").toWellFormed();
  };
}

function cleanValue(value: Json, clean: (text: string) => string, depth: number): Json {
  if (typeof value === "string") return clean(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (Array.isArray(value)) {
    if (depth >= MAX_JSON_DEPTH) return "…";
    return value.map((item) => cleanValue(item ?? null, clean, depth + 1));
  }
  if (isJsonObject(value)) {
    if (depth >= MAX_JSON_DEPTH) return "…";
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .map(([key, member]) => [clean(key), cleanValue(member, clean, depth + 1)]),
    );
  }
  return typeof value === "boolean" ? value : null;
}
