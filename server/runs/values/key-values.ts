import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import { defineQuery } from "@/server/base/db/statement";
import { type Json, readJson, writeJson } from "@/server/base/json/json";
import { perOwner } from "@/server/base/per-owner";
import { FairQueue } from "@/server/base/scheduling/fair-queue";
import type { Services } from "@/server/runs/services";
import {
  type NewValue,
  type StoredValue,
  VALUE_LIMITS,
  type WriteOutcome,
  writeOutcome,
} from "@/server/work/functions/core/value-limits";

/** The only module that reads and writes `key_values`. */

const READ = defineQuery(
  "read-key-value",
  z.object({ value: z.string(), version: z.number() }),
  `SELECT value, version FROM key_values
   WHERE organization_id = $1 AND key = $2 AND (expires_at IS NULL OR expires_at > coalesce($3, clock_timestamp()))`,
);
const SET = defineQuery(
  "set-key-value",
  writeOutcome,
  "SELECT outcome, version FROM set_key_value($1, $2, $3, $4, $5, $6, $7, $8, $9)",
);

// An organization's writes wait for each other in the database. More at a time would only take connections.
const WRITES = { process: 4, organization: 1 };
const writesOf = perOwner((_pool: Services["pool"]) => new FairQueue(WRITES.process, WRITES.organization));

/** A value of the organization; null when there is none or it has expired. */
export async function readKeyValue(
  { pool, clock }: Pick<Services, "pool" | "clock">,
  orgId: OrgId,
  key: string,
): Promise<StoredValue | null> {
  const [row] = await READ(pool, [orgId, key, clock.forDatabase()]);
  if (row === undefined) return null;
  const parsed: Json = readJson(row.value);
  return { value: parsed, version: row.version };
}

/**
 * Writes a value of the organization, once per `call`: repeated, it returns the version of its first write. Throws the
 * signal's reason if it is aborted before the write has its turn.
 */
export async function writeKeyValue(
  { pool, clock }: Pick<Services, "pool" | "clock">,
  orgId: OrgId,
  { key, value, ttlSeconds, ifVersion, call, signal }: NewValue & { call: string; signal?: AbortSignal },
): Promise<WriteOutcome> {
  const values = [
    orgId,
    call,
    key,
    writeJson(value),
    ttlSeconds ?? null,
    ifVersion ?? null,
    VALUE_LIMITS.keys,
    VALUE_LIMITS.totalBytes,
    clock.forDatabase(),
  ];
  const [row] = await writesOf(pool).take(orgId, () => SET(pool, values), signal);
  if (row === undefined) throw new Error("set_key_value gave no row");
  return row;
}
