import { type ExactNumber, isExactNumber } from "@/server/base/json/exact-number";
import { isContainer, type Json, objectOf } from "@/server/base/json/json";
import { mapLarge, stringifyLarge } from "@/server/base/json/large";
import { MAX_JSON_DEPTH } from "@/server/base/json/text";
import { formatLimit, MAX_STEP_OUTPUT_BYTES } from "@/server/contract/sizes";
import type { Redactor } from "@/server/guard/secrets/redact";

const PREVIEW_LENGTH = 4_096;
const KEEP: Redactor = { redact: (text) => text, redactLong: async (text) => text };
const REPLACE_NUL: Redactor = { redact: replaceNul, redactLong: async (text) => replaceNul(text) };

/**
 * Prepares an output for storage: secrets are redacted, U+0000 and unpaired surrogates become U+FFFD, and nesting
 * beyond 200 levels is left out. An output over 1 MiB is `cut` to `{"truncated": true, "bytes": N,
 * "preview": "…"}` for agents, or rejected for workflows. Storing again changes nothing.
 */
export async function storeOutput(
  output: Json,
  { overflow }: { overflow: "cut" | "reject" },
  { redact, redactLong }: Redactor = KEEP,
): Promise<{ text: string } | { error: string }> {
  const clean: Redactor = {
    redact: (each) => replaceNul(redact(each)),
    redactLong: async (each) => replaceNul(await redactLong(each)),
  };
  const text = await stringifyLarge(await cleanParts(output, clean));
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_STEP_OUTPUT_BYTES) return { text };
  if (overflow === "reject") {
    return { error: `The output is larger than ${formatLimit(MAX_STEP_OUTPUT_BYTES)}.` };
  }
  return { text: cutOutput(text, bytes) };
}

export function cutOutput(text: string, bytes: number): string {
  const preview = text.slice(0, PREVIEW_LENGTH).toWellFormed();
  const cut = JSON.stringify({ truncated: true, bytes, preview });
  return cut.length < text.length ? cut : text;
}

/** A text without U+0000, which PostgreSQL cannot hold, and without unpaired surrogates, which UTF-8 cannot. */
export function replaceNul(text: string): string {
  return text.replaceAll("\0", "\uFFFD").toWellFormed();
}

/** A text of `writeJson` without unpaired surrogates, which are escapes in it. */
export function replaceSurrogates(text: string): string {
  if (!text.includes("\\ud")) return text;
  return text.replace(/(?<!\\)((?:\\\\)*)\\ud[89a-f][\da-f]{2}/g, "$1\uFFFD");
}

export function cutBytes(text: string, most: number): string {
  if (text.length * 3 <= most || Buffer.byteLength(text) <= most) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(most));
  return text.slice(0, read);
}

/** A value whose texts are fit to be stored: see `replaceNul`. Nests deeper than 200 levels are left out. */
export function cleanLargeJson(value: Json): Promise<Json> {
  return cleanParts(value, REPLACE_NUL);
}

export function redactJson(value: Json, redactor: Redactor): Promise<Json> {
  return cleanParts(value, redactor);
}

function cleanParts(value: Json, { redact, redactLong }: Redactor): Promise<Json> {
  const part = (each: Json, depth: number) => cleanValue(each, redact, depth);
  return mapLarge(value, { part, long: redactLong, key: redact, depth: MAX_JSON_DEPTH });
}

function cleanValue(value: Json, clean: (text: string) => string, depth: number): Json {
  if (typeof value === "string") return clean(value);
  if (typeof value === "number" || isExactNumber(value)) return cleanNumber(value, clean);
  if (!isContainer(value)) return value;
  if (depth >= MAX_JSON_DEPTH) return "…";
  if (Array.isArray(value)) return value.map((item) => cleanValue(item, clean, depth + 1));
  return objectOf(
    Object.entries(value).map(([key, member]) => [clean(key), cleanValue(member, clean, depth + 1)]),
  );
}

/** A number with six or more digits may be a secret. */
function cleanNumber(value: number | ExactNumber, clean: (text: string) => string): Json {
  if (typeof value === "number" && Number.isInteger(value) && Math.abs(value) < 100_000) return value;
  const text = String(value);
  const cleaned = clean(text);
  return cleaned === text ? value : cleaned;
}
