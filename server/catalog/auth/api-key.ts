import { randomBytes } from "node:crypto";
import { sha256 } from "@/server/base/sha256";

// A random key of 238 bits needs no slow hash, and a lookup by its SHA-256 leaks nothing through timing.
const MARK = "sw_live_";
const RANDOM_CHARACTERS = 40;
const PREFIX_LENGTH = MARK.length + 4;
const SHAPE = /^sw_live_[0-9A-Za-z]{40}$/;
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** `key` is shown once and never stored; `prefix` is its readable start. */
type NewApiKey = { key: string; prefix: string; hash: Buffer };

export function newApiKey(): NewApiKey {
  const key = MARK + randomBase62(RANDOM_CHARACTERS);
  return { key, prefix: key.slice(0, PREFIX_LENGTH), hash: sha256(key) };
}

/** The hash for looking up a key, or null for a text that cannot be a key. */
export function hashApiKey(key: string): Buffer | null {
  return SHAPE.test(key) ? sha256(key) : null;
}

// Discards bytes that would favor some characters.
function randomBase62(length: number): string {
  const limit = 256 - (256 % BASE62.length);
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(2 * length)) {
      if (byte < limit && text.length < length) text += BASE62.charAt(byte % BASE62.length);
    }
  }
  return text;
}
