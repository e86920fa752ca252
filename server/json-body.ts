import { AppError } from "@/server/errors";
import type { Json } from "@/server/json";
import { jsonPointer, parseJson } from "@/server/json-text";

/** Whether a Content-Type header names JSON in UTF-8. */
export function isJsonContentType(header: string | null): boolean {
  if (header === null) return false;
  const [type = "", ...parameters] = header.split(";").map((part) => part.trim().toLowerCase());
  if (type !== "application/json") return false;
  return parameters.every(
    (parameter) => !parameter.startsWith("charset=") || /^charset="?utf-?8"?$/.test(parameter),
  );
}

/** Throws `invalid_request` unless the header names JSON in UTF-8. */
export function requireJson(header: string | null): void {
  if (isJsonContentType(header)) return;
  throw new AppError("invalid_request", "The header Content-Type must be application/json.");
}

/** Decodes a body; throws `invalid_request` if it is not UTF-8. */
export function decodeText(body: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch (cause) {
    throw new AppError("invalid_request", "The body is not valid UTF-8.", { cause });
  }
}

/**
 * Parses JSON from outside; throws `invalid_request` if it is no JSON, nested too deeply, or has a number beyond
 * 1.8e308.
 */
export function parseBodyText(text: string): Json {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new AppError(
      "invalid_request",
      "The body is not valid JSON, is nested too deeply or contains a number that is too large.",
      { cause },
    );
  }
}

/** Throws `invalid_request` if any text or key contains U+0000 (docs/contract.md, "Bodies of starts"). */
export function refuseNul(value: Json, path = ""): void {
  if (typeof value === "string") {
    if (!value.includes("\0")) return;
    throw new AppError("invalid_request", "U+0000 is not allowed.", {
      issues: [{ path, message: "must not contain U+0000" }],
    });
  }
  if (typeof value !== "object" || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    const pointer = path + jsonPointer([key]);
    if (key.includes("\0")) refuseNul(key, pointer.replaceAll("\0", "\uFFFD"));
    refuseNul(item, pointer);
  }
}
