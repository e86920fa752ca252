import { createHash, randomBytes } from "node:crypto";

const TOKEN_BYTES = 24;

/** Generates the token of a trigger's URL: 192 bits in 32 characters that need no escaping. */
export function newTriggerToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

/** The SHA-256 for looking up a trigger. */
export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** The URL that senders call. `appUrl` has no trailing slash. */
export function triggerUrl(appUrl: string, token: string): string {
  return `${appUrl}/webhooks/${token}`;
}

/** The purpose that a trigger's sealed token is bound to. */
export function tokenPurpose(triggerId: string): string {
  return `trigger-token:${triggerId}`;
}

/** The purpose that a trigger's sealed signing secrets are bound to. */
export function signingSecretPurpose(triggerId: string): string {
  return `trigger:${triggerId}`;
}
