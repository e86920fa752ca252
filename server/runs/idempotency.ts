import { createHash } from "node:crypto";
import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import { defineQuery, type Queryable } from "@/server/base/db/statement";
import { AppError } from "@/server/base/errors";
import { MAX_IDEMPOTENCY_KEY_LENGTH } from "@/server/contract/limits";

/** A start that its sender may repeat. */
export type IdempotentRequest = {
  /** `start` for endpoints 1 and 2, `page` for the dashboard, the trigger's id for webhooks. */
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

const FIND_STARTED_RUN = defineQuery(
  "find-started-run",
  z.object({ runId: z.string() }),
  `SELECT run_id AS "runId" FROM idempotency_keys WHERE organization_id = $1 AND scope = 'start' AND key = $2`,
);

/** The run of an API call's start with this idempotency key; null if there is none. */
export async function findStartedRun(
  { pool }: { pool: Queryable },
  orgId: OrgId,
  key: string,
): Promise<string | null> {
  const [found] = await FIND_STARTED_RUN(pool, [orgId, key]);
  return found?.runId ?? null;
}
