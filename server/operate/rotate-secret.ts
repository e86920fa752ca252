import { z } from "zod";
import { recordInstallationAudit } from "@/server/base/audit";
import { defineCommand, defineQuery, type Queryable } from "@/server/base/db/statement";
import { transact, transactPrisma } from "@/server/base/db/transaction";
import { signingSecretPurpose, tokenPurpose } from "@/server/catalog/webhooks/trigger";
import { type Encryption, purposeOfSecret, SECRET_OWNER_SQL } from "@/server/guard/secrets/encryption";
import { setSecretFingerprint } from "@/server/guard/secrets/fingerprint";
import type { Services } from "@/server/services";

const BATCH = 500;
const FIRST_ID = "00000000-0000-0000-0000-000000000000";

/** Every column with sealed texts; the purpose contains the value of the SQL expression `owner`. */
export const SEALED_COLUMNS = [
  { table: "triggers", column: "token_sealed", owner: "id", purposeOf: tokenPurpose },
  { table: "trigger_secrets", column: "sealed", owner: "trigger_id", purposeOf: signingSecretPurpose },
  { table: "secrets", column: "sealed", owner: SECRET_OWNER_SQL, purposeOf: purposeOfSecret },
].map(({ table, column, owner, purposeOf }) => ({
  table,
  column,
  purposeOf,
  /** The next rows after the id $1 whose texts do not begin with $2. */
  find: defineQuery(
    `find-${table}-to-reseal`,
    z.object({ id: z.string(), owner: z.string(), sealed: z.string() }),
    `SELECT id, ${owner} AS owner, ${column} AS sealed FROM ${table}
     WHERE id > $1 AND NOT starts_with(${column}, $2) ORDER BY id LIMIT ${BATCH} FOR UPDATE`,
  ),
  update: defineCommand(
    `reseal-${table}`,
    `UPDATE ${table} t SET ${column} = n.sealed
     FROM unnest($1::uuid[], $2::text[]) AS n(id, sealed) WHERE t.id = n.id`,
  ),
}));

/**
 * Seals everything again that is sealed under the previous STEPWELL_SECRET, then makes the current one the database's
 * own. Can be repeated after an interruption. Texts that neither secret opens stay and are counted as `unreadable`.
 */
export async function rotateSecret(
  services: Pick<Services, "db" | "pool" | "encryption" | "clock">,
  operatorName = "operator",
): Promise<{ resealed: number; unreadable: number }> {
  const sum = { resealed: 0, unreadable: 0 };
  for (const column of SEALED_COLUMNS) {
    for (let after: string | null = FIRST_ID; after !== null; ) {
      const from: string = after;
      const batch = await transact(services.pool, (client) =>
        resealBatch(services.encryption, client, { column, after: from }),
      );
      sum.resealed += batch.resealed;
      sum.unreadable += batch.unreadable;
      after = batch.last;
    }
  }
  await transactPrisma(services.db, "short", async (tx) => {
    await setSecretFingerprint({ db: tx, encryption: services.encryption });
    await recordInstallationAudit(tx, {
      actorName: operatorName,
      action: "secret.rotated",
      subject: { kind: "secret", id: null, name: "STEPWELL_SECRET" },
      changes: { from: services.encryption.previousFingerprint, to: services.encryption.fingerprint, ...sum },
      at: services.clock.now(),
    });
  });
  return sum;
}

/** Seals the next rows after the id `after` again; `last` is null if there are no more. */
async function resealBatch(
  encryption: Encryption,
  client: Queryable,
  { column, after }: { column: (typeof SEALED_COLUMNS)[number]; after: string },
) {
  const rows = await column.find(client, [after, encryption.sealedPrefix]);
  const resealed = rows.flatMap(({ id, owner, sealed }) => {
    const purpose = column.purposeOf(owner);
    const text = encryption.openOrNull(sealed, purpose);
    return text === null ? [] : [{ id, sealed: encryption.seal(text, purpose) }];
  });
  await column.update(client, [resealed.map(({ id }) => id), resealed.map(({ sealed }) => sealed)]);
  const last = rows.length === BATCH ? (rows.at(-1)?.id ?? null) : null;
  return { resealed: resealed.length, unreadable: rows.length - resealed.length, last };
}
