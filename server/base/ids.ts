import { createHash } from "node:crypto";
import { parse, stringify, v7 } from "uuid";

/** A new UUID v7: unique across processes and ordered by creation time. */
export function newId(): string {
  return v7();
}

/**
 * Derives an id from a run's id and a name, as a UUID v7 with the run's time. A worker that takes the run over
 * derives the same one.
 */
export function deriveId(runId: string, name: string): string {
  const bytes = createHash("sha256").update(`${runId}/${name}`).digest().subarray(0, 16);
  bytes.set(parse(runId).subarray(0, 6));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return stringify(bytes);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}
