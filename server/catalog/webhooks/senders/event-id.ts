import { isJsonObject, type Json } from "@/server/base/json/json";
import { fromPointer } from "@/server/base/json/text";
import type { Sender } from "./presets";

/**
 * The sender's id of an event in a header. If the signature covers the id, no other header counts: otherwise an
 * intercepted call could be replayed with a new id.
 */
export function eventIdInHeaders(
  { rule, eventId }: Sender,
  { isSigned, header }: { isSigned: boolean; header(name: string): string | null },
): string | null {
  const isCovered = rule.kind === "hmac" && rule.signingString.includes("{id}");
  const names = isSigned && isCovered && rule.idHeader ? [rule.idHeader] : (eventId.headers ?? []);
  for (const name of names) {
    const found = header(name);
    if (found !== null) return found;
  }
  return null;
}

export function eventIdInBody({ eventId }: Sender, body: Json): string | null {
  for (const pointer of eventId.pointers ?? []) {
    const found = valueAt(body, pointer);
    if (typeof found === "string" || typeof found === "number") return String(found);
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
