import { AppError } from "@/server/base/errors";
import { decodeUtf8 } from "@/server/base/utf8";
import { JSON_TYPE } from "@/server/contract/media-types";
import { findInvalidText } from "./invalid-text";
import type { Json } from "./json";
import { findRepeatedKey, parseLargeJson, stringifyLarge } from "./large";
import { describeRepeatedKey } from "./repeated-key";
import { isSmall } from "./small";
import { JsonLimitError, jsonPointer } from "./text";

/** Throws `invalid_request` unless a Content-Type header names JSON in UTF-8. */
export const requireJson = (header: string | null): void => requireType(header, [JSON_TYPE]);

/** Throws `invalid_request` unless a Content-Type header names one of the types in UTF-8. */
export function requireType(header: string | null, types: readonly string[]): void {
  const [type, ...parameters] = (header ?? "").split(";").map((part) => part.trim().toLowerCase());
  const isUtf8 = parameters.every(
    (each) => !each.startsWith("charset=") || /^charset="?utf-?8"?$/.test(each),
  );
  if (types.includes(type ?? "") && isUtf8) return;
  const given = header?.trim() ? `, not ${header.trim().slice(0, 100)}` : ". It is missing";
  throw new AppError("invalid_request", `The header Content-Type must be ${types.join(" or ")}${given}.`);
}

/** Decodes a body; throws `invalid_request` if it is not UTF-8. */
export function decodeText(body: Uint8Array): string {
  try {
    return decodeUtf8(body);
  } catch (cause) {
    throw new AppError("invalid_request", "The body is not valid UTF-8.", { cause });
  }
}

/**
 * Parses JSON from outside like `parseLargeJson`, also behind a byte order mark. Throws `invalid_request`, also for
 * an object that has a key twice.
 */
export async function parseBodyText(text: string): Promise<Json> {
  const json = text.startsWith("\ufeff") ? text.slice(1) : text;
  if (json.trim() === "") throw new AppError("invalid_request", "The body is empty. It must be JSON.");
  let value: Json;
  try {
    value = await parseLargeJson(json);
  } catch (cause) {
    const isLimit = cause instanceof JsonLimitError;
    const message = isLimit ? cause.message.replace("JSON", "body") : "The body is not valid JSON.";
    throw new AppError("invalid_request", message, { cause });
  }
  await rejectRepeatedKeys(json);
  return value;
}

/** Throws `invalid_request` if an object of a valid JSON text has a key twice: one of the values would be lost. */
export async function rejectRepeatedKeys(text: string): Promise<void> {
  const repeated = await findRepeatedKey(text);
  if (repeated === null) return;
  throw new AppError("invalid_request", describeRepeatedKey(repeated), {
    issues: [{ path: pointerOf(repeated.path), message: "appears twice" }],
  });
}

// A pointer to invalid text can be stored.
const pointerOf = (path: readonly PropertyKey[]) =>
  jsonPointer(path).replaceAll("\0", "\uFFFD").toWellFormed();

// Of `writeJson`. After an odd number of backslashes the `\\` belongs to another character.
const ESCAPED_INVALID = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

/** Throws `invalid_request` if a text or key has U+0000 or an unpaired surrogate (docs/contract.md, "Bodies of starts"). */
export async function rejectInvalidText(value: Json, at = ""): Promise<void> {
  const isLarge = typeof value !== "string" && !isSmall(value);
  if (isLarge && !ESCAPED_INVALID.test(await stringifyLarge(value))) return;
  const invalid = findInvalidText(value);
  if (invalid === null) return;
  const path = at + pointerOf(invalid.path);
  const [first = "", ...rest] = invalid.found;
  throw new AppError("invalid_request", `${first.toUpperCase()}${rest.join("")} is not allowed.`, {
    issues: [{ path, message: `must not contain ${invalid.found}` }],
  });
}
