import { z } from "zod";
import { readJson, writeJson } from "@/server/base/json/json";
import { findExcess } from "@/server/base/json/text";
import { KIB } from "@/server/contract/sizes";
import { TOO_MANY_FIELDS } from "./call-body";
import { type HmacRule, PRESETS, type Sender, type SignatureRule } from "./presets";
import { hasDigest, type ReadSignature, readSignature, type SignedCall } from "./signed-call";
import { fillSigningString } from "./signing-string";

/**
 * The report of a rejected signature. It never has the right digest: with it, anyone who reads deliveries could
 * sign calls.
 */
const signatureCheck = z.object({
  /** In lower case. */
  header: z.string(),
  /** Such as "HMAC-SHA256 in hex of {timestamp}.{body}". */
  expected: z.string(),
  /** The start of the signed text; null if the call lacks a part of it. */
  signed: z.object({ start: z.string(), bytes: z.int() }).nullable(),
  /** Null: the header is missing. `start`: the first four characters; of a token none. */
  received: z
    .object({ length: z.int(), encoding: z.enum(["hex", "base64", "other"]), start: z.string() })
    .nullable(),
  likely: z.string(),
});
export type SignatureCheck = z.infer<typeof signatureCheck>;

export function readSignatureCheck(text: string): SignatureCheck {
  return signatureCheck.parse(JSON.parse(text));
}

const SHOWN_BYTES = 512;
// Larger bodies are not written again for the hint: anyone can send them, and indentation writes each value once per
// level.
const MAX_REWRITTEN_BYTES = 64 * KIB;
const MAX_REWRITTEN = { depth: 32, values: 10_000 };

type Failed = { secrets: string[]; call: SignedCall; token: string };

/** Explains why `isSigned` returned false. `token` is the trigger's and is masked. */
export function explainSignature({ rule, title }: Sender, { secrets, call, token }: Failed): SignatureCheck {
  if (rule.kind === "token") {
    const given = call.header(rule.header);
    return {
      header: rule.header,
      expected: "the trigger's secret",
      signed: null,
      received: given === null ? null : { length: given.length, encoding: encodingOf(given), start: "" },
      likely: given === null ? missing(rule, call) : likelyToken(given, { secrets, title }),
    };
  }
  const read = readSignature(rule, call);
  const value = read.received === null ? null : shownSignature(rule, read.received);
  return {
    header: rule.header,
    expected: `HMAC-${rule.algorithm.toUpperCase()} in ${rule.encoding} of ${rule.signingString}`,
    signed: read.signed && startOf(read.signed, token),
    received:
      value === null ? null : { length: value.length, encoding: encodingOf(value), start: value.slice(0, 4) },
    likely: likelyMistake(rule, read, { secrets, call, title }),
  };
}

function likelyToken(given: string, { secrets, title }: { secrets: string[]; title: string }): string {
  return secrets.some((secret) => secret.trim() === given.trim())
    ? "The secret has a space or a line break at one end."
    : `${title} sends another secret. Paste the same one there and here.`;
}

/** The header without its prefix, timestamp and other signatures. */
function shownSignature({ layout, prefix }: HmacRule, header: string): string {
  const separator = layout === "pairs" ? "," : " ";
  const parts = layout === "plain" ? [header] : header.split(separator).map((part) => part.trim());
  const found = parts.find((part) => part.toLowerCase().startsWith(prefix.toLowerCase()));
  return found === undefined ? header : found.slice(prefix.length);
}

function encodingOf(text: string): "hex" | "base64" | "other" {
  if (/^[0-9a-f]+$/i.test(text)) return "hex";
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) ? "base64" : "other";
}

function startOf(parts: (string | Uint8Array)[], token: string): { start: string; bytes: number } {
  const all = Buffer.concat(parts.map((part) => Buffer.from(part)));
  // A character that the cut would split is omitted.
  const text = new TextDecoder().decode(all.subarray(0, SHOWN_BYTES + token.length), { stream: true });
  const start = text.replaceAll(token, "[token]").replaceAll("\0", "\uFFFD").slice(0, SHOWN_BYTES);
  return { start: start.toWellFormed(), bytes: all.length };
}

type Circumstances = { secrets: string[]; call: SignedCall; title: string };

function likelyMistake(rule: HmacRule, read: ReadSignature, { secrets, call, title }: Circumstances): string {
  switch (read.issue) {
    case "header":
      return missing(rule, call);
    case "format":
      return `The header has no signature of the form ${rule.prefix}${rule.encoding === "hex" ? "hex" : "base64"} with the length of ${rule.algorithm.toUpperCase()}. Check which sender the trigger expects.`;
    case "timestamp":
      return "The timestamp is missing, or not in Unix seconds.";
    case "tolerance":
      return describeAge(rule, read.ageSeconds ?? 0);
    case "id":
      return `The header ${rule.idHeader} is missing, which the signature covers.`;
    case "body_hash":
      return `The address lacks ${rule.bodyHashQuery}, the hash of a body that is not a form.`;
    case "form":
      return TOO_MANY_FIELDS;
    case null:
      return likelyMismatch(rule, read, { secrets, call, title });
  }
}

function missing({ header }: SignatureRule, call: SignedCall): string {
  const other = Object.values(PRESETS).find(
    ({ rule }) => rule.header !== header && call.header(rule.header) !== null,
  );
  const start = `The call has no header ${header}: the sender has no secret, or signs in another way.`;
  return other ? `${start} The header ${other.rule.header} looks like ${other.title}.` : start;
}

function describeAge({ timestamp }: HmacRule, age: number): string {
  const seconds = Math.round(Math.abs(age));
  const allowed = `${timestamp?.toleranceSeconds} s are allowed`;
  return age > 0
    ? `The timestamp is ${seconds} s old; ${allowed}. Something kept the call back or sent it again, or a clock is wrong.`
    : `The timestamp is ${seconds} s ahead; ${allowed}. Check the clocks of both sides.`;
}

function likelyMismatch(
  rule: HmacRule,
  read: ReadSignature,
  { secrets, call, title }: Circumstances,
): string {
  const { signatures, signed } = read;
  const matches = (parts: (string | Uint8Array)[] | null, keys = secrets, key = rule.key) =>
    parts !== null && hasDigest({ ...rule, key }, keys, { signatures, signed: parts });
  const id = rule.idHeader === undefined ? null : call.header(rule.idHeader);
  const { timestamp } = read;
  const isRewritten = rewrite(call.body).some((body) =>
    matches(fillSigningString(rule.signingString, { timestamp, id, url: call.url, form: "", body })),
  );
  if (isRewritten) {
    return "The body was parsed and written again on its way. Forward the bytes as they came.";
  }
  if (matches(signed, secrets, rule.key === "text" ? "base64" : "text")) {
    return rule.key === "text"
      ? "The sender decodes the secret from base64. It must use the secret's text."
      : "The sender uses the secret's text. It must decode the base64 after whsec_.";
  }
  if (
    matches(
      signed,
      secrets.map((secret) => secret.trim()),
    )
  ) {
    return "The secret stored here has a space or a line break at one end.";
  }
  const covers = rule.signingString.includes("{url}")
    ? " Or it calls another address than the one shown here."
    : "";
  return `${title} signs with another secret, or something changed the call on its way.${covers}`;
}

/** The body as common programs would write it again. */
function rewrite(body: Uint8Array): string[] {
  if (body.length > MAX_REWRITTEN_BYTES) return [];
  const text = Buffer.from(body).toString("utf8");
  const ends = [text.trim(), `${text}\n`, text.replaceAll("\r\n", "\n")];
  if (findExcess(text, MAX_REWRITTEN) !== null) return ends;
  try {
    const compact = writeJson(readJson(text));
    return [...ends, compact, writeJson(readJson(text), 2), spaced(compact)];
  } catch {
    return ends;
  }
}

// JSON as Python writes it.
function spaced(compact: string): string {
  return compact.replace(/"(?:[^"\\]|\\.)*"|[,:]/g, (part) =>
    part === "," || part === ":" ? `${part} ` : part,
  );
}
