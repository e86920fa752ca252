import { z } from "zod";
import { recordInstallationAudit } from "@/server/base/audit";
import { defineCommand, defineQuery, type Queryable } from "@/server/base/db/statement";
import { transact, transactPrisma } from "@/server/base/db/transaction";
import { callbackSecretPurpose } from "@/server/catalog/callbacks/callback-secrets";
import { signingSecretPurpose, tokenPurpose } from "@/server/catalog/webhooks/trigger";
import {
  CALL_STATE_OWNER_SQL,
  type Encryption,
  purposeOfCallState,
  purposeOfSecret,
  SECRET_OWNER_SQL,
} from "@/server/guard/secrets/encryption";
import { readSecretFingerprint, setSecretFingerprint } from "@/server/guard/secrets/fingerprint";
import type { Services } from "@/server/services";

const FIRST_ID = "00000000-0000-0000-0000-000000000000";

// At most 8 MiB of the largest kind.
const BATCH = { text: 500, bytea: 32 };

// The most rows that a statement reads: a table may have millions that are resealed already.
const PAGE = 5_000;
const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** The sealing purpose contains the value of the SQL expression `owner`. */
type Column = {
  table: string;
  column: string;
  /** Reseals rows after the id `after`, up to `last`; null at the end. */
  resealBatch(
    encryption: Encryption,
    client: Queryable,
    after: string,
  ): Promise<{ resealed: number; unreadable: number; last: string | null }>;
};

function sealedColumn<Sealed>({
  table,
  column,
  owner,
  purposeOf,
  kind,
}: {
  table: string;
  column: string;
  owner: string;
  purposeOf: (owner: string) => string;
  kind: SealedKind<Sealed>;
}): Column {
  const findEnd = defineQuery(
    `find-end-of-${table}`,
    z.object({ id: z.string() }),
    `SELECT id FROM ${table} WHERE id > $1 ORDER BY id LIMIT 1 OFFSET ${PAGE - 1}`,
  );
  const find = defineQuery(
    `find-${table}-to-reseal`,
    z.object({ id: z.string(), owner: z.string(), sealed: kind.schema }),
    `SELECT id, ${owner} AS owner, ${column} AS sealed FROM ${table}
     WHERE id > $1 AND id <= $3 AND ${column} IS NOT NULL AND NOT ${kind.isCurrent(column)}
     ORDER BY id LIMIT ${BATCH[kind.type]} FOR UPDATE`,
  );
  const update = defineCommand(
    `reseal-${table}`,
    `UPDATE ${table} t SET ${column} = n.sealed
     FROM unnest($1::uuid[], $2::${kind.type}[]) AS n(id, sealed) WHERE t.id = n.id`,
  );
  return {
    table,
    column,
    async resealBatch(encryption, client, after) {
      const [end] = await findEnd(client, [after]);
      const rows = await find(client, [after, kind.prefix(encryption), end?.id ?? LAST_ID]);
      const resealed = rows.flatMap(({ id, owner, sealed }) => {
        const purpose = purposeOf(owner);
        const text = kind.open(encryption, sealed, purpose);
        return text === null ? [] : [{ id, sealed: kind.seal(encryption, text, purpose) }];
      });
      await update(client, [resealed.map(({ id }) => id), resealed.map(({ sealed }) => sealed)]);
      const last = (rows.length === BATCH[kind.type] ? rows.at(-1) : end)?.id ?? null;
      return { resealed: resealed.length, unreadable: rows.length - resealed.length, last };
    },
  };
}

type SealedKind<Sealed> = {
  type: keyof typeof BATCH;
  schema: z.ZodType<Sealed>;
  prefix(encryption: Encryption): Sealed;
  /** Returns SQL: the column begins with the prefix $2. */
  isCurrent(column: string): string;
  open(encryption: Encryption, sealed: Sealed, purpose: string): string | null;
  seal(encryption: Encryption, text: string, purpose: string): Sealed;
};

const TEXT: SealedKind<string> = {
  type: "text",
  schema: z.string(),
  prefix: ({ sealedPrefix }) => sealedPrefix,
  isCurrent: (column) => `starts_with(${column}, $2)`,
  open: ({ openOrNull }, sealed, purpose) => openOrNull(sealed, purpose),
  seal: ({ seal }, text, purpose) => seal(text, purpose),
};

const BYTES: SealedKind<Buffer> = {
  type: "bytea",
  schema: z.instanceof(Buffer),
  prefix: ({ sealedBytesPrefix }) => sealedBytesPrefix,
  isCurrent: (column) => `(substring(${column} from 1 for octet_length($2::bytea)) = $2::bytea)`,
  open: ({ openBytesOrNull }, sealed, purpose) => openBytesOrNull(sealed, purpose),
  seal: ({ sealBytes }, text, purpose) => sealBytes(text, purpose),
};

/** Every column with sealed texts. */
export const SEALED_COLUMNS: readonly Column[] = [
  sealedColumn({
    table: "triggers",
    column: "token_sealed",
    owner: "id",
    purposeOf: tokenPurpose,
    kind: TEXT,
  }),
  sealedColumn({
    table: "trigger_secrets",
    column: "sealed",
    owner: "trigger_id",
    purposeOf: signingSecretPurpose,
    kind: TEXT,
  }),
  sealedColumn({
    table: "secrets",
    column: "sealed",
    owner: SECRET_OWNER_SQL,
    purposeOf: purposeOfSecret,
    kind: TEXT,
  }),
  sealedColumn({
    table: "callback_secrets",
    column: "sealed",
    owner: "endpoint_id",
    purposeOf: callbackSecretPurpose,
    kind: TEXT,
  }),
  sealedColumn({
    table: "model_calls",
    column: "state_sealed",
    owner: CALL_STATE_OWNER_SQL,
    purposeOf: purposeOfCallState,
    kind: BYTES,
  }),
];

/**
 * Reseals everything under the current STEPWELL_SECRET, then makes it the database's own. Can be repeated after an
 * interruption. Texts that neither secret opens stay and are counted as `unreadable`.
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
        column.resealBatch(services.encryption, client, from),
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

/** Makes the current STEPWELL_SECRET the database's own without the earlier one. Returns false if it is already. */
export async function adoptSecret(
  { db, encryption, clock }: Pick<Services, "db" | "encryption" | "clock">,
  operatorName = "operator",
): Promise<boolean> {
  return transactPrisma(db, "short", async (tx) => {
    const known = await readSecretFingerprint({ db: tx });
    if (known === encryption.fingerprint) return false;
    await setSecretFingerprint({ db: tx, encryption });
    await recordInstallationAudit(tx, {
      actorName: operatorName,
      action: "secret.adopted",
      subject: { kind: "secret", id: null, name: "STEPWELL_SECRET" },
      changes: { from: known, to: encryption.fingerprint },
      at: clock.now(),
    });
    return true;
  });
}
