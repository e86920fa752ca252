import { v7 } from "uuid";

/** A new UUID v7: unique across processes and ordered by creation time. */
export function newId(): string {
  return v7();
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID of any version, in its canonical form of 36 characters. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
