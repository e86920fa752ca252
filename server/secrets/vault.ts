import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";

/**
 * Encrypts small secrets (webhook tokens and signing secrets) for the database: AES-256-GCM, under a key
 * derived from STEPWELL_SECRET. Sealed texts read `v1.<nonce>.<ciphertext>.<tag>`, each part base64url.
 */
export type Vault = {
  /**
   * Seals a text. `purpose` says what and whose it is (`trigger-token:<id>`) and is authenticated, so that a
   * sealed text copied into another row does not open there.
   */
  seal(plain: string, purpose: string): string;
  /** Opens what `seal` made for the same purpose; throws VaultError for anything else. */
  open(sealed: string, purpose: string): string;
  /** Tells two secrets apart without saying anything about them; kept in the database. */
  fingerprint: string;
};

/** A sealed text that is damaged, of another purpose, or sealed under another STEPWELL_SECRET. */
export class VaultError extends Error {
  override name = "VaultError";
}

const VERSION = "v1";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PART = /^[A-Za-z0-9_-]*$/;

/** Makes the vault of STEPWELL_SECRET. The same secret always opens what it once sealed. */
export function createVault(secret: string): Vault {
  const key = deriveKey(secret, "stepwell/vault/v1");
  const fingerprint = createHmac("sha256", deriveKey(secret, "stepwell/fingerprint/v1"))
    .update("fingerprint")
    .digest("hex")
    .slice(0, 16);

  return {
    fingerprint,
    seal(plain, purpose) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(authenticated(purpose));
      const ciphertext = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
      const parts = [nonce, ciphertext, cipher.getAuthTag()].map((part) => part.toString("base64url"));
      return [VERSION, ...parts].join(".");
    },
    open(sealed, purpose) {
      const [version, nonce, ciphertext, tag, ...rest] = sealed.split(".");
      if (version !== VERSION || !isPart(nonce) || !isPart(ciphertext) || !isPart(tag) || rest.length > 0) {
        throw new VaultError("This is not a sealed text.");
      }
      const nonceBytes = Buffer.from(nonce, "base64url");
      const tagBytes = Buffer.from(tag, "base64url");
      if (nonceBytes.length !== NONCE_BYTES || tagBytes.length !== TAG_BYTES) {
        throw new VaultError("This is not a sealed text.");
      }
      const decipher = createDecipheriv("aes-256-gcm", key, nonceBytes, { authTagLength: TAG_BYTES });
      decipher.setAAD(authenticated(purpose));
      decipher.setAuthTag(tagBytes);
      try {
        const plain = [decipher.update(Buffer.from(ciphertext, "base64url")), decipher.final()];
        return Buffer.concat(plain).toString("utf8");
      } catch (cause) {
        throw new VaultError(
          "A sealed text does not open: it was changed, or it was sealed under another STEPWELL_SECRET.",
          { cause },
        );
      }
    },
  };
}

function deriveKey(secret: string, info: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "stepwell", info, 32));
}

function authenticated(purpose: string): Buffer {
  return Buffer.from(`${VERSION}\n${purpose}`, "utf8");
}

function isPart(part: string | undefined): part is string {
  return part !== undefined && PART.test(part);
}
