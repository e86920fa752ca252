import { isJsonObject, type Json } from "@/server/base/json/json";
import { fromPointer } from "@/server/base/json/text";
import type { Sender } from "./presets";

type Header = (name: string) => string | null;

/** Name an event if the sender's own id is missing. */
const COMMON_HEADERS = ["idempotency-key", "webhook-id"];

/**
 * The id of an event in a header. If the signature covers the id, no other header counts: otherwise an intercepted
 * call could be replayed with a new id. The same holds for an id in the body.
 */
export function eventIdInHeaders(
  { rule, eventId }: Sender,
  { isSigned, header }: { isSigned: boolean; header: Header },
): string | null {
  const isCovered = rule.kind === "hmac" && rule.signingString.includes("{id}");
  if (isSigned && isCovered && rule.idHeader) return header(rule.idHeader);
  const own = firstOf(eventId.headers ?? [], header);
  return own === null && eventId.pointers === undefined ? firstOf(COMMON_HEADERS, header) : own;
}

/** The id of an event in the body, or else in a header. Null for a sender whose ids are in headers. */
export function eventIdInBody({ eventId }: Sender, body: Json, header: Header): string | null {
  if (eventId.pointers === undefined) return null;
  for (const pointer of eventId.pointers) {
    const found = valueAt(body, pointer);
    if (typeof found === "string" || typeof found === "number") return String(found);
  }
  return firstOf(COMMON_HEADERS, header);
}

function firstOf(names: readonly string[], header: Header): string | null {
  for (const name of names) {
    const found = header(name);
    if (found !== null) return found;
  }
  return null;
}

export function valueAt(value: Json, pointer: string): Json | undefined {
  let found: Json | undefined = value;
  for (const key of fromPointer(pointer)) {
    found = isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return found;
}
