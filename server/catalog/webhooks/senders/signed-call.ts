import { createHmac, timingSafeEqual } from "node:crypto";
import { sha256 } from "@/server/base/sha256";
import { FORM_TYPE } from "@/server/contract/media-types";
import { formFields, mediaTypeOf } from "./call-body";
import type { HmacRule, SignatureRule } from "./presets";
import { fillSigningString } from "./signing-string";

export type SignedCall = {
  header(name: string): string | null;
  body: Uint8Array;
  /** As the sender called it, with its query. */
  url: string;
  now: Date;
};

// Senders that change their secret sign with the old and the new one.
const MAX_SIGNATURES = 10;
const DIGEST_BYTES = { sha1: 20, sha256: 32, sha512: 64 } as const;

export type ReadSignature = {
  /** The header's value; null if it is missing. */
  received: string | null;
  /** The signatures in it, decoded; empty if none has the right form. */
  signatures: Buffer[];
  timestamp: string | null;
  /** Null: the rule has none, or the call has none. */
  ageSeconds: number | null;
  /** Null: a part is missing. */
  signed: (string | Uint8Array)[] | null;
  /** `signed` with the other ports that the sender may sign. */
  otherPorts: (string | Uint8Array)[][];
  issue: SignatureIssue | null;
};
type SignatureIssue = "header" | "format" | "timestamp" | "tolerance" | "id" | "body_hash" | "form";

/** Checks a call's signature over its raw bytes against the secrets, in constant time. */
export function isSigned(rule: SignatureRule, secrets: string[], call: SignedCall): boolean {
  if (rule.kind === "token") return hasToken(rule.header, secrets, call);
  const { signatures, signed, otherPorts, issue } = readSignature(rule, call);
  if (issue !== null || signed === null) return false;
  return [signed, ...otherPorts]
    .map((each) => hasDigest(rule, secrets, { signatures, signed: each }))
    .includes(true);
}

// Hashes make both sides equally long.
function hasToken(header: string, secrets: string[], call: SignedCall): boolean {
  const given = call.header(header);
  if (given === null) return false;

  return secrets.map((secret) => timingSafeEqual(sha256(secret), sha256(given))).includes(true);
}

/** Every secret is tried, so that the timing does not show which one fits. */
export function hasDigest(
  rule: HmacRule,
  secrets: string[],
  { signatures, signed }: { signatures: Buffer[]; signed: (string | Uint8Array)[] },
): boolean {
  return (
    secrets
      .map((secret) => keyOf(rule, secret))
      // An empty key would be known to everybody.
      .filter((key) => key.length > 0)
      .flatMap((key) => {
        const digest = hmac(rule, key, signed);
        return signatures.map((signature) => timingSafeEqual(digest, signature));
      })
      .includes(true)
  );
}

export function keyOf({ key }: Pick<HmacRule, "key">, secret: string): Buffer {
  return key === "base64" ? Buffer.from(secret.replace(/^whsec_/, ""), "base64") : Buffer.from(secret);
}

export function hmac({ algorithm }: HmacRule, key: Buffer, signed: (string | Uint8Array)[]): Buffer {
  const digest = createHmac(algorithm, key);
  for (const part of signed) digest.update(part);
  return digest.digest();
}

/** Reads what a call says about its signature, without a secret. */
export function readSignature(rule: HmacRule, call: SignedCall): ReadSignature {
  const received = call.header(rule.header)?.trim() || null;
  const parts = splitHeader(rule, received ?? "");
  const signatures = parts.signatures
    .slice(0, MAX_SIGNATURES)
    .map((text) => decodeSignature(rule, text))
    .filter((signature) => signature !== null);
  const isPair = rule.layout === "pairs";
  const { timestamp: clock } = rule;
  const timestamp = clock ? (isPair ? parts.timestamp : call.header(clock.in)) : null;
  const ageSeconds = timestamp === null ? null : ageOf(timestamp, call.now);
  const id = rule.idHeader === undefined ? null : call.header(rule.idHeader) || null;
  const { body, url } = call;
  // Only a rule that signs the fields may depend on them.
  const form = rule.signingString.includes("{form}") ? sortedForm(call) : "";
  const fill = (called: string) =>
    fillSigningString(rule.signingString, { timestamp, id, body, url: called, form });
  const signed = fill(url);
  const otherPorts = rule.isPortOptional
    ? withOtherPorts(url)
        .map(fill)
        .filter((each) => each !== null)
    : [];
  const issue = (): SignatureIssue | null => {
    if (received === null) return "header";
    if (signatures.length === 0) return "format";
    if (clock && ageSeconds === null) return "timestamp";
    if (clock && Math.abs(ageSeconds ?? 0) > clock.toleranceSeconds) return "tolerance";
    if (rule.bodyHashQuery !== undefined && !isBodyBound(rule.bodyHashQuery, call)) return "body_hash";
    if (form === null) return "form";
    return signed === null ? "id" : null;
  };
  return { received, signatures, timestamp, ageSeconds, signed, otherPorts, issue: issue() };
}

/** The URL without its port, and with the port of its scheme. The rest is signed as it came. */
function withOtherPorts(url: string): string[] {
  const [origin = ""] = /^https?:\/\/[^/?#]+/.exec(url) ?? [];
  const host = origin.replace(/:\d+$/, "");
  const rest = url.slice(origin.length);
  return [host, `${host}:${url.startsWith("https:") ? 443 : 80}`].map((each) => each + rest);
}

function splitHeader(rule: HmacRule, header: string): { signatures: string[]; timestamp: string | null } {
  if (rule.layout === "plain") return { signatures: withoutPrefix(rule, header), timestamp: null };
  if (rule.layout === "list") {
    return { signatures: header.split(" ").flatMap((part) => withoutPrefix(rule, part)), timestamp: null };
  }
  const pairs = header.split(",").map((pair) => pair.trim());
  const start = `${rule.timestamp?.in}=`;
  return {
    signatures: pairs.flatMap((pair) => withoutPrefix(rule, pair)),
    timestamp: pairs.find((pair) => pair.startsWith(start))?.slice(start.length) ?? null,
  };
}

function withoutPrefix({ prefix, isPrefixOptional }: HmacRule, text: string): string[] {
  const hasPrefix = text.slice(0, prefix.length).toLowerCase() === prefix.toLowerCase();
  if (hasPrefix) return [text.slice(prefix.length)];
  return isPrefixOptional ? [text] : [];
}

function decodeSignature({ encoding, algorithm }: HmacRule, text: string): Buffer | null {
  const form = encoding === "hex" ? /^[0-9a-f]+$/i : /^[A-Za-z0-9+/_-]+={0,2}$/;
  const bytes = form.test(text) ? Buffer.from(text, encoding) : null;
  return bytes?.length === DIGEST_BYTES[algorithm] ? bytes : null;
}

/** Null if it is not a time. */
function ageOf(timestamp: string, now: Date): number | null {
  if (!/^\d{1,13}$/.test(timestamp)) return null;
  const at = timestamp.length === 13 ? Number(timestamp) : Number(timestamp) * 1000;
  return (now.getTime() - at) / 1000;
}

/** A form is signed by its fields. Anything else must be bound by its hash in the URL. */
function isBodyBound(name: string, { header, body, url }: SignedCall): boolean {
  if (mediaTypeOf(header("content-type")) === FORM_TYPE) return true;
  const given = new URL(url).searchParams.get(name)?.toLowerCase();
  return given === sha256(body).toString("hex");
}

/** Names in order, each with its distinct values in order, as Twilio signs them. Null: there are too many. */
function sortedForm({ header, body }: SignedCall): string | null {
  if (mediaTypeOf(header("content-type")) !== FORM_TYPE) return "";
  const fields = formFields(Buffer.from(body).toString("utf8"));
  if (fields === null) return null;
  return [...fields]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, values]) => [...new Set(values)].sort().map((value) => name + value))
    .join("");
}
