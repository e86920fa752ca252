import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";

/**
 * Encrypts small secrets (webhook tokens and signing secrets) for the database: AES-256-GCM, under a key
 * derived from STEPWELL_SECRET. Sealed texts read `v1.<key id>.<nonce>.<ciphertext>.<tag>`, the last three base64url.
 */
export type Encryption = {
  /**
   * Seals a text. `purpose` names what it is and its owner (`trigger-token:<id>`). It is authenticated, so a sealed
   * text copied into another row does not open there.
   */
  seal(text: string, purpose: string): string;
  /** Opens what `seal` made for the same purpose, under either secret; throws EncryptionError for anything else. */
  open(sealed: string, purpose: string): string;
  /** Like `open`, but null instead of an EncryptionError. */
  openOrNull(sealed: string, purpose: string): string | null;
  /** How texts begin that are sealed under the current secret. */
  sealedPrefix: string;
  /** Distinguishes two secrets without revealing anything about them; stored in the database. */
  fingerprint: string;
  /** The fingerprint of STEPWELL_SECRET_PREVIOUS; null when it is not set. */
  previousFingerprint: string | null;
};

/** A sealed text that is damaged, of another purpose, or sealed under an unknown secret. */
export class EncryptionError extends Error {
  override name = "EncryptionError";
}

const VERSION = "v1";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_LENGTH = 8;
const PART = /^[A-Za-z0-9_-]*$/;

type Key = { id: string; bytes: Buffer; fingerprint: string };

/** Creates the encryption under STEPWELL_SECRET. It also opens what was sealed under `previousSecret`, for a rotation. */
export function createEncryption(secret: string, previousSecret?: string): Encryption {
  const current = deriveKey(secret);
  const previous = previousSecret === undefined ? null : deriveKey(previousSecret);
  const keys = new Map([previous, current].flatMap((key) => (key === null ? [] : [[key.id, key]])));
  const sealedPrefix = `${VERSION}.${current.id}.`;

  const encryption: Encryption = {
    fingerprint: current.fingerprint,
    previousFingerprint: previous?.fingerprint ?? null,
    sealedPrefix,
    seal(text, purpose) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", current.bytes, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(authenticated(purpose));
      const ciphertext = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      const parts = [nonce, ciphertext, cipher.getAuthTag()].map((part) => part.toString("base64url"));
      return sealedPrefix + parts.join(".");
    },
    open(sealed, purpose) {
      const { keyId, nonce, ciphertext, tag } = readSealed(sealed);
      const key = keys.get(keyId);
      if (key === undefined) throw new EncryptionError("A text is sealed under another STEPWELL_SECRET.");
      const decipher = createDecipheriv("aes-256-gcm", key.bytes, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(authenticated(purpose));
      decipher.setAuthTag(tag);
      try {
        return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString("utf8");
      } catch (cause) {
        throw new EncryptionError("A sealed text was changed, or it is of another purpose.", { cause });
      }
    },
    openOrNull(sealed, purpose) {
      try {
        return encryption.open(sealed, purpose);
      } catch (error) {
        if (error instanceof EncryptionError) return null;
        throw error;
      }
    },
  };
  return encryption;
}

function readSealed(sealed: string) {
  const [version, keyId, ...parts] = sealed.split(".");
  const [nonce, ciphertext, tag] = parts.map((part) =>
    PART.test(part) ? Buffer.from(part, "base64url") : null,
  );
  if (
    version !== VERSION ||
    keyId === undefined ||
    parts.length !== 3 ||
    !ciphertext ||
    nonce?.length !== NONCE_BYTES ||
    tag?.length !== TAG_BYTES
  ) {
    throw new EncryptionError("This is not a sealed text.");
  }
  return { keyId, nonce, ciphertext, tag };
}

function deriveKey(secret: string): Key {
  const derive = (info: string) => Buffer.from(hkdfSync("sha256", secret, "stepwell", info, 32));
  const fingerprint = createHmac("sha256", derive("stepwell/fingerprint/v1"))
    .update("fingerprint")
    .digest("hex")
    .slice(0, 16);
  return { id: fingerprint.slice(0, KEY_ID_LENGTH), bytes: derive("stepwell/vault/v1"), fingerprint };
}

function authenticated(purpose: string): Buffer {
  return Buffer.from(`${VERSION}\n${purpose}`, "utf8");
}

/**
 * The purpose that binds a secret's value to its organization and name. Copied to another row, the value cannot be opened.
 */
export function secretValuePurpose(orgId: string, name: string): string {
  return purposeOfSecret(`${orgId}/${name}`);
}

/** Like `secretValuePurpose`, for an owner in the form of SECRET_OWNER_SQL. */
export const purposeOfSecret = (owner: string) => `secret-value:${owner}`;

/** SQL for the owner of a row of `secrets`: organization and name. */
export const SECRET_OWNER_SQL = "organization_id || '/' || name";
