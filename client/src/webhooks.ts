import { CallbackError } from "./errors.js";

/** Signatures of callbacks (Standard Webhooks) and of calls to webhook triggers. */

type Bytes = Uint8Array<ArrayBuffer>;
type Body = string | Uint8Array | ArrayBuffer;
type HeaderValues = Headers | Record<string, string | readonly string[] | undefined>;

export type Callback = {
  /** The same for every attempt: skip a callback whose id you have seen. */
  id: string;
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
};

const DEFAULT_TOLERANCE_SECONDS = 300;
/** A rotation sends two. */
const MAX_SIGNATURES = 16;

/**
 * Checks that a callback comes from the service and returns it. Give the body's exact bytes, before any parser has
 * changed them. During a rotation, `secret` may be a list. Throws `CallbackError`.
 */
// biome-ignore lint/complexity/useMaxParams: every receiver has these three; the options are rare.
export async function verifyCallback(
  secret: string | readonly string[],
  headers: HeaderValues,
  body: Body,
  { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, now = Date.now() } = {},
): Promise<Callback> {
  const id = readHeader(headers, "webhook-id");
  const timestamp = readHeader(headers, "webhook-timestamp");
  const signatures = readHeader(headers, "webhook-signature").split(" ").slice(0, MAX_SIGNATURES);
  const seconds = /^\d{1,15}$/.test(timestamp) ? Number(timestamp) : Number.NaN;
  if (!(Math.abs(now / 1_000 - seconds) <= toleranceSeconds)) {
    throw new CallbackError("The callback's webhook-timestamp is too old, too new or not a time.");
  }
  const bytes = toBytes(body);
  const signed = concatenate(encode(`${id}.${timestamp}.`), bytes);
  const keys = await Promise.all([secret].flat().map((each) => importKey(callbackKey(each), "verify")));
  const found = await Promise.all(
    keys.flatMap((key) => signatures.map((signature) => isSignature(key, signature, signed))),
  );
  if (!found.includes(true)) throw new CallbackError("No signature of the callback is valid.");
  return parseCallback(id, bytes);
}

/** The header X-Signature of a call to a trigger whose signature is `hex`. Sign the exact bytes that you send. */
export async function signWebhook(secret: string, body: Body): Promise<string> {
  const key = await importKey(encode(secret), "sign");
  const digest = await crypto.subtle.sign("HMAC", key, toBytes(body));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function readHeader(headers: HeaderValues, name: string): string {
  const value =
    typeof headers.get === "function"
      ? headers.get(name)
      : Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  if (typeof value === "string" && value !== "") return value;
  throw new CallbackError(`The callback has no header ${name}.`);
}

/** Web Crypto compares in constant time. */
async function isSignature(key: CryptoKey, text: string, signed: Bytes): Promise<boolean> {
  const [version, signature] = text.split(",", 2);
  const bytes = version === "v1" ? decodeBase64(signature ?? "") : null;
  return bytes !== null && crypto.subtle.verify("HMAC", key, bytes, signed);
}

function callbackKey(secret: string): Bytes {
  const key = decodeBase64(secret.replace(/^whsec_/, ""));
  if (key !== null && key.length > 0) return key;
  throw new CallbackError("The secret is not valid: it has the form whsec_ and base64.");
}

function parseCallback(id: string, bytes: Bytes): Callback {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw new CallbackError("The callback's body is not JSON.", { cause });
  }
  const { type, timestamp, data } = isRecord(body) ? body : {};
  if (typeof type === "string" && typeof timestamp === "string" && isRecord(data)) {
    return { id, type, timestamp, data };
  }
  throw new CallbackError("The callback's body has no type, timestamp and data.");
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const importKey = (key: Bytes, use: "sign" | "verify") =>
  crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, [use]);

const encode = (text: string): Bytes => new TextEncoder().encode(text);

function toBytes(body: Body): Bytes {
  if (typeof body === "string") return encode(body);
  return new Uint8Array(body);
}

function concatenate(one: Bytes, other: Bytes): Bytes {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

function decodeBase64(text: string): Bytes | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
