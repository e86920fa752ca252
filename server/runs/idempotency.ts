import { createHash } from "node:crypto";
import type { OrgId } from "@/server/auth/actor";
import type { Queryable } from "@/server/db/sql";
import { AppError, isAppError } from "@/server/errors";

/** How long an accepted start answers its repetitions (product.md, "Idempotent starts"). */
const KEPT_MS = 24 * 60 * 60 * 1000;

/** Longest idempotency key that is taken, in characters. */
const MAX_KEY_LENGTH = 255;

/** A start that its sender may repeat. */
export type IdempotentRequest = {
  /** `start` for endpoints 1 and 2, the trigger's id for webhooks. */
  scope: string;
  key: string;
  /** SHA-256 over what must be equal in a repetition. */
  requestHash: Buffer;
  /** The body that answers the first request and every repetition. */
  answer(runId: string): unknown;
};

/** Checks an idempotency key's form. Throws `invalid_request`. */
export function parseIdempotencyKey(header: string | null): string | null {
  if (header === null) return null;
  const key = header.trim();
  if (key === "" || key.length > MAX_KEY_LENGTH || !/^[\x20-\x7e]+$/.test(key)) {
    throw new AppError(
      "invalid_request",
      `An idempotency key has 1 to ${MAX_KEY_LENGTH} printable ASCII characters.`,
    );
  }
  return key;
}

/** Hashes the parts of a request that make it the same request. */
export function hashRequest(...parts: (string | Uint8Array)[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest();
}

/** The row that a start keeps in its own statement. */
export function keepIdempotentAnswer(request: IdempotentRequest, runId: string, now: Date) {
  return {
    scope: request.scope,
    key: request.key,
    requestHash: request.requestHash,
    response: JSON.stringify(request.answer(runId)),
    expiresAt: new Date(now.getTime() + KEPT_MS),
  };
}

export type KeptAnswer = { runId: string; response: string; sameRequest: boolean };

/** The answer kept for a key, if there is one that has not expired; an expired one is removed. */
export async function findKeptAnswer(
  client: Queryable,
  orgId: OrgId,
  request: Pick<IdempotentRequest, "scope" | "key" | "requestHash">,
  now: Date,
): Promise<KeptAnswer | null> {
  const { rows } = await client.query<{
    run_id: string;
    response: string;
    request_hash: Buffer;
    expires_at: Date;
  }>({
    name: "find-kept-answer",
    text: `SELECT run_id, response, request_hash, expires_at FROM idempotency_keys
           WHERE organization_id = $1 AND scope = $2 AND key = $3`,
    values: [orgId, request.scope, request.key],
  });
  const row = rows[0];
  if (row === undefined) return null;
  if (row.expires_at <= now) {
    await client.query(
      "DELETE FROM idempotency_keys WHERE organization_id = $1 AND scope = $2 AND key = $3 AND expires_at <= $4",
      [orgId, request.scope, request.key, now],
    );
    return null;
  }
  return {
    runId: row.run_id,
    response: row.response,
    sameRequest: row.request_hash.equals(request.requestHash),
  };
}

/**
 * Runs a start that may be repeated. An equal request that committed first, before or during this one, is
 * answered with its kept answer; `start` runs at most once. The unique row makes a concurrent duplicate wait for
 * the first one's commit.
 */
export async function onceOnly<T>(
  client: Queryable,
  orgId: OrgId,
  request: IdempotentRequest,
  now: () => Date,
  start: () => Promise<T>,
): Promise<{ kept: KeptAnswer } | { fresh: T }> {
  const before = await findKeptAnswer(client, orgId, request, now());
  if (before !== null) return { kept: before };
  try {
    return { fresh: await start() };
  } catch (error) {
    // Whether it lost the race for the key, or for the last credits: the kept answer wins.
    const after = isAppError(error) ? await findKeptAnswer(client, orgId, request, now()) : null;
    if (after !== null) return { kept: after };
    throw error;
  }
}
