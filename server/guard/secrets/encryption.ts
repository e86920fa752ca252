import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { deriveFromSecret, fingerprintOf } from "./secret-fingerprint.mjs";

/**
 * Encrypts secrets with AES-256-GCM, under a key derived from STEPWELL_SECRET. Sealed texts read `v1.<key
 * id>.<nonce>.<ciphertext>.<tag>`, the last three base64url. Sealed bytes are a 1, the key id in 4 bytes, nonce,
 * tag and ciphertext.
 */
export type Encryption = {
  /**
   * `purpose` names the text and its owner (`trigger-token:<id>`). It is authenticated, so a sealed text copied
   * into another row does not open there.
   */
  seal(text: string, purpose: string): string;
  /**
   * Opens a text that was sealed for the same purpose, under either secret. Throws EncryptionError for anything
   * else.
   */
  open(sealed: string, purpose: string): string;
  openOrNull(sealed: string, purpose: string): string | null;
  sealBytes(text: string, purpose: string): Buffer;
  openBytesOrNull(sealed: Uint8Array, purpose: string): string | null;
  sealedPrefix: string;
  sealedBytesPrefix: Buffer;
  /** Identifies the secret without revealing anything about it; stored in the database. */
  fingerprint: string;
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
    sealedBytesPrefix: bytesPrefixOf(current),
    seal(text, purpose) {
      const { nonce, ciphertext, tag } = encrypt(current, text, purpose);
      return sealedPrefix + [nonce, ciphertext, tag].map((part) => part.toString("base64url")).join(".");
    },
    open: (sealed, purpose) => decrypt(keys, readSealed(sealed), purpose),
    openOrNull: (sealed, purpose) => orNull(() => encryption.open(sealed, purpose)),
    sealBytes(text, purpose) {
      const { nonce, ciphertext, tag } = encrypt(current, text, purpose);
      return Buffer.concat([bytesPrefixOf(current), nonce, tag, ciphertext]);
    },
    openBytesOrNull: (sealed, purpose) => orNull(() => decrypt(keys, readSealedBytes(sealed), purpose)),
  };
  return encryption;
}

type Sealed = { keyId: string; nonce: Buffer; ciphertext: Buffer; tag: Buffer };

function encrypt(key: Key, text: string, purpose: string): Sealed {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key.bytes, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(authenticated(purpose));
  const ciphertext = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return { keyId: key.id, nonce, ciphertext, tag: cipher.getAuthTag() };
}

function decrypt(keys: ReadonlyMap<string, Key>, sealed: Sealed, purpose: string): string {
  const { keyId, nonce, ciphertext, tag } = sealed;
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
}

function orNull(open: () => string): string | null {
  try {
    return open();
  } catch (error) {
    if (error instanceof EncryptionError) return null;
    throw error;
  }
}

const bytesPrefixOf = ({ id }: Key) => Buffer.from(`01${id}`, "hex");

function readSealedBytes(sealed: Uint8Array): Sealed {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const nonceAt = 1 + KEY_ID_LENGTH / 2;
  const textAt = nonceAt + NONCE_BYTES + TAG_BYTES;
  if (bytes[0] !== 1 || bytes.length < textAt) throw new EncryptionError("These are not sealed bytes.");
  return {
    keyId: bytes.subarray(1, nonceAt).toString("hex"),
    nonce: bytes.subarray(nonceAt, nonceAt + NONCE_BYTES),
    tag: bytes.subarray(nonceAt + NONCE_BYTES, textAt),
    ciphertext: bytes.subarray(textAt),
  };
}

function readSealed(sealed: string): Sealed {
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
  const fingerprint = fingerprintOf(secret);
  const bytes = deriveFromSecret(secret, "stepwell/vault/v1");
  return { id: fingerprint.slice(0, KEY_ID_LENGTH), bytes, fingerprint };
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

/** The purpose of what a provider gave for itself with a model call, for an owner as `callStateOwner` writes it. */
export const purposeOfCallState = (owner: string) => `call-state:${owner}`;

export const callStateOwner = ({ orgId, runId, key }: { orgId: string; runId: string; key: string }) =>
  `${orgId}/${runId}/${key}`;

/** SQL for the owner of a row of `model_calls`. */
export const CALL_STATE_OWNER_SQL = "organization_id || '/' || run_id || '/' || key";
