import type { Transaction } from "@/server/base/db/client";
import { StartError } from "@/server/base/errors";
import { CALL, IS_PACKAGE } from "@/server/base/settings/program";
import type { Services } from "@/server/guard/services";
import type { Encryption } from "./encryption";
import { FINGERPRINT_KEY as KEY } from "./secret-fingerprint.mjs";

/**
 * Compares STEPWELL_SECRET with the fingerprint that the first start stored in the database. Throws
 * StartError on a mismatch. Call it before the service accepts requests.
 */
export async function checkSecretFingerprint(services: Pick<Services, "db" | "encryption">): Promise<void> {
  const { db, encryption } = services;
  // Two processes may start at once: the second one compares with what the first one stored.
  await db.setting.createMany({ data: [{ key: KEY, value: encryption.fingerprint }], skipDuplicates: true });
  const known = await db.setting.findUniqueOrThrow({ where: { key: KEY } });
  // Until `service-secret rotate` has run, the database's own secret is the previous one.
  if (known.value === encryption.fingerprint || known.value === encryption.previousFingerprint) return;
  throw new StartError(
    [
      "STEPWELL_SECRET is not the secret of this database " +
        `(its fingerprint is ${encryption.fingerprint}, the database has ${known.value}).`,
      "Webhook tokens and signing secrets can be read only with the database's own.",
      IS_PACKAGE
        ? "Set STEPWELL_SECRET to the earlier value."
        : "Set STEPWELL_SECRET to the earlier value (embedded PostgreSQL: the file `secret` in the data folder).",
      `To change it, set STEPWELL_SECRET_PREVIOUS to the earlier value as well, and run \`${CALL} service-secret rotate\`.`,
      `If it is lost, accept the new one with \`${CALL} service-secret adopt\`. ` +
        "You must then set the values of secrets and the signing secrets of triggers again, and rotate the secrets of " +
        "callbacks. The addresses of triggers change; everything else stays.",
    ].join("\n"),
  );
}

/** The fingerprint in the database, or null before the first start. */
export async function readSecretFingerprint(services: {
  db: Pick<Transaction, "setting">;
}): Promise<string | null> {
  const known = await services.db.setting.findUnique({ where: { key: KEY } });
  return known?.value ?? null;
}

export async function setSecretFingerprint(services: {
  db: Pick<Transaction, "setting">;
  encryption: Encryption;
}): Promise<void> {
  const value = services.encryption.fingerprint;
  await services.db.setting.upsert({ where: { key: KEY }, create: { key: KEY, value }, update: { value } });
}
