import { createHmac, hkdfSync } from "node:crypto";

/** In JavaScript, because `backup` and `restore` use it without a build. */

/** The key of the table `settings` under which the database has the fingerprint of its STEPWELL_SECRET. */
export const FINGERPRINT_KEY = "secret_fingerprint";

/**
 * A key of 32 bytes for one purpose.
 * @param {string} secret
 * @param {string} purpose
 */
export const deriveFromSecret = (secret, purpose) =>
  Buffer.from(hkdfSync("sha256", secret, "stepwell", purpose, 32));

/**
 * Identifies a secret without revealing anything about it.
 * @param {string} secret
 */
export function fingerprintOf(secret) {
  const key = deriveFromSecret(secret, "stepwell/fingerprint/v1");
  return createHmac("sha256", key).update("fingerprint").digest("hex").slice(0, 16);
}
