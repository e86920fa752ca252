import { z } from "zod";
import type { OrgId } from "@/server/auth/actor";
import type { Json } from "@/server/json/json";
import type { Services } from "@/server/services";
import type { NewValue, StoredValue, WriteOutcome } from "./limits";
import { VALUE_LIMITS } from "./limits";

/** The only module that reads and writes `key_values`. */

const found = z.object({ value: z.string(), version: z.number() });
const written = z.object({
  outcome: z.enum(["written", "conflict", "too many", "too large"]),
  version: z.number(),
});

/** A value of the organization; null when there is none or it has expired. */
export async function readKeyValue(
  { pool, clock }: Pick<Services, "pool" | "clock">,
  orgId: OrgId,
  key: string,
): Promise<StoredValue | null> {
  const { rows } = await pool.query({
    name: "read-key-value",
    text: `SELECT value, version FROM key_values
           WHERE organization_id = $1 AND key = $2 AND (expires_at IS NULL OR expires_at > coalesce($3, clock_timestamp()))`,
    values: [orgId, key, clock.forDatabase()],
  });
  if (rows.length === 0) return null;
  const { value, version } = found.parse(rows[0]);
  const parsed: Json = JSON.parse(value);
  return { value: parsed, version };
}

/** Writes a value of the organization, once per `call`: repeated, it returns the version of its first write. */
export async function writeKeyValue(
  { pool, clock }: Pick<Services, "pool" | "clock">,
  orgId: OrgId,
  { key, value, ttlSeconds, ifVersion, call }: NewValue & { call: string },
): Promise<WriteOutcome> {
  const { rows } = await pool.query({
    name: "set-key-value",
    text: "SELECT * FROM set_key_value($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    values: [
      orgId,
      call,
      key,
      JSON.stringify(value),
      ttlSeconds ?? null,
      ifVersion ?? null,
      VALUE_LIMITS.keys,
      VALUE_LIMITS.totalBytes,
      clock.forDatabase(),
    ],
  });
  return written.parse(rows[0]);
}
