import { randomBytes } from "node:crypto";

/** Standard Webhooks 1.0: base64 with a prefix. */
export function newCallbackSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

export function callbackSecretPurpose(endpointId: string): string {
  return `callback:${endpointId}`;
}

/** The end of a secret, by which people recognize it. */
export const secretHint = (secret: string) => `whsec_…${secret.replace(/=+$/, "").slice(-4)}`;
