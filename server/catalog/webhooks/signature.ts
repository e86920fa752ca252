import { createHmac, timingSafeEqual } from "node:crypto";

export const SIGNATURE_SCHEMES = ["hex", "standard_webhooks"] as const;
export type SignatureScheme = (typeof SIGNATURE_SCHEMES)[number];

/** For Standard Webhooks timestamps, before or after now. */
const TOLERANCE_MS = 5 * 60 * 1000;

type SignedCall = { header(name: string): string | null; body: Uint8Array; now: Date };

/**
 * Checks a call's signature against the secrets in constant time over the raw bytes. `hex`: `X-Signature` has the
 * hexadecimal HMAC-SHA256 of the body, with or without `sha256=` (docs/webhooks.md, "Sign a call").
 * `standard_webhooks`: Standard Webhooks 1.0, with five minutes' tolerance.
 */
export function isSigned(scheme: SignatureScheme, secrets: string[], call: SignedCall): boolean {
  return scheme === "hex" ? isHexSigned(secrets, call) : isStandardSigned(secrets, call);
}

function isHexSigned(secrets: string[], { header, body }: SignedCall): boolean {
  const given = /^(?:sha256=)?([0-9a-f]{64})$/i.exec(header("x-signature")?.trim() ?? "")?.[1];
  if (given === undefined) return false;
  const signature = Buffer.from(given, "hex");
  // Every secret is tried, so that the timing does not show which one fits.
  return secrets
    .map((secret) => timingSafeEqual(createHmac("sha256", secret).update(body).digest(), signature))
    .includes(true);
}

function isStandardSigned(secrets: string[], { header, body, now }: SignedCall): boolean {
  const id = header("webhook-id");
  const timestamp = header("webhook-timestamp");
  const given = header("webhook-signature");
  if (!id || !timestamp || !given || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Number(timestamp) * 1000 - now.getTime()) > TOLERANCE_MS) return false;
  const signatures = given
    .split(" ")
    .slice(0, 10)
    .filter((part) => part.startsWith("v1,"))
    .map((part) => Buffer.from(part.slice(3), "base64"));
  return (
    secrets
      .map(standardKey)
      // An empty key would be known to everybody.
      .filter((key) => key.length > 0)
      .flatMap((key) => {
        const digest = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
        return signatures.map(
          (signature) => signature.length === digest.length && timingSafeEqual(digest, signature),
        );
      })
      .includes(true)
  );
}

/** Base64, with or without `whsec_`. */
function standardKey(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ""), "base64");
}

/** The headers that sign a call, by lower-case name; `id` is its `webhook-id`. `isSigned` accepts them. */
export function signCall(
  scheme: SignatureScheme,
  secret: string,
  { id, body, now }: { id: string; body: Uint8Array; now: Date },
): [name: string, value: string][] {
  if (scheme === "hex") return [["x-signature", createHmac("sha256", secret).update(body).digest("hex")]];
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const digest = createHmac("sha256", standardKey(secret)).update(`${id}.${timestamp}.`).update(body);
  return [
    ["webhook-id", id],
    ["webhook-timestamp", timestamp],
    ["webhook-signature", `v1,${digest.digest("base64")}`],
  ];
}
