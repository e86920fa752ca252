import { createHash, randomBytes } from "node:crypto";

const TOKEN_BYTES = 24;

/** Makes the token of a trigger's URL: 192 bits in 32 characters that need no escaping. */
export function newTriggerToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

/** The SHA-256 a trigger is looked up by. */
export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** The address senders post to. `appUrl` has no trailing slash. */
export function triggerUrl(appUrl: string, token: string): string {
  return `${appUrl}/webhooks/${token}`;
}

/** What a trigger's sealed token is bound to in the vault. */
export function tokenPurpose(triggerId: string): string {
  return `trigger-token:${triggerId}`;
}

/** What a trigger's sealed signing secrets are bound to in the vault. */
export function secretPurpose(triggerId: string): string {
  return `trigger:${triggerId}`;
}
