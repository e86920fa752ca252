import { AppError } from "@/server/base/errors";
import { decodeText, parseBodyText, requireJson } from "@/server/base/json/body";
import { type Json, objectOf, writeJson } from "@/server/base/json/json";
import { JSON_TYPE } from "@/server/contract/media-types";
import type { StepMemory } from "@/server/guard/limits/process-memory";
import type { BodyForm, BodyForms } from "./presets";

/** A call's body as the document that runs get; `text` is its JSON. */
export type CallBody = { text: string; json: Json };

// A form is read before its signature is checked, so it must be quick.
const MAX_FORM_FIELDS = 1_000;
export const TOO_MANY_FIELDS = "The form has more than 1,000 fields.";

// In a form, the document of GitHub, Slack and others.
const DOCUMENT_FIELD = "payload";

/** Lower case, without parameters. */
export function mediaTypeOf(contentType: string | null): string {
  return (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

export function bodyFormOf(bodies: BodyForms, contentType: string | null): BodyForm | null {
  const type = mediaTypeOf(contentType);
  const found = Object.hasOwn(bodies, type) ? bodies[type] : undefined;
  if (found !== undefined) return found;
  return /^application\/[^\s/]+\+json$/.test(type) ? (bodies["application/*+json"] ?? null) : null;
}

/** Reads a body in one of the sender's forms. Throws `invalid_request`. */
export async function readCallBody(
  bytes: Uint8Array,
  { bodies, contentType, memory }: { bodies: BodyForms; contentType: string | null; memory: StepMemory },
): Promise<CallBody> {
  const form = bodyFormOf(bodies, contentType);
  requireType(bodies, contentType, form);
  const text = decodeText(bytes);
  await memory.holdText(text);
  if (form !== "form") return { text, json: await parseBodyText(text) };
  const fields = formFields(text);
  if (fields === null) throw new AppError("invalid_request", TOO_MANY_FIELDS);
  const [document] = fields.get(DOCUMENT_FIELD) ?? [];
  if (document !== undefined) return { text: document, json: await parseBodyText(document) };
  const json = objectOf(
    [...fields].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? "") : values]),
  );
  return { text: writeJson(json), json };
}

/** Throws unless the header names a type of the sender; JSON must be in UTF-8. */
function requireType(bodies: BodyForms, contentType: string | null, form: BodyForm | null): void {
  const types = Object.keys(bodies);
  const isPlain = types.length === 1 && types[0] === JSON_TYPE;
  if (isPlain || mediaTypeOf(contentType) === JSON_TYPE) requireJson(contentType);
  if (form !== null) return;
  const given = contentType?.trim() ? `, not ${contentType.trim().slice(0, 100)}` : ". It is missing";
  throw new AppError("invalid_request", `The header Content-Type must be ${types.join(" or ")}${given}.`);
}

/** The fields of a form by name, in order; null if there are more than 1,000. */
export function formFields(text: string): Map<string, string[]> | null {
  if (text.split("&", MAX_FORM_FIELDS + 1).length > MAX_FORM_FIELDS) return null;
  const fields = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const known = fields.get(name);
    if (known) known.push(value);
    else fields.set(name, [value]);
  }
  return fields;
}
