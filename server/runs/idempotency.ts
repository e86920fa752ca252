import { createHash } from "node:crypto";
import { AppError } from "@/server/base/errors";
import { MAX_IDEMPOTENCY_KEY_LENGTH } from "@/server/contract/limits";

/** A start that its sender may repeat. */
export type IdempotentRequest = {
  /** `start` for endpoints 1 and 2, the trigger's id for webhooks. */
  scope: string;
  key: string;
  /** SHA-256 of what a repetition must have in common. */
  requestHash: Buffer;
  answer(runId: string): unknown;
};

/** Checks the format of an idempotency key. Throws `invalid_request`. */
export function parseIdempotencyKey(header: string | null): string | null {
  if (header === null) return null;
  const key = header.trim();
  if (key === "" || key.length > MAX_IDEMPOTENCY_KEY_LENGTH || !/^[\x20-\x7e]+$/.test(key)) {
    throw new AppError(
      "invalid_request",
      `An idempotency key has 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} printable ASCII characters.`,
    );
  }
  return key;
}

export function hashRequest(...parts: (string | Uint8Array)[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest();
}
