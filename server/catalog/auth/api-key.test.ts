import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { hashApiKey, newApiKey } from "@/server/catalog/auth/api-key";

test("a new key has its marker, its prefix and the hash for the look-up", () => {
  const { key, prefix, hash } = newApiKey();
  expect(key).toMatch(/^sw_live_[0-9A-Za-z]{40}$/);
  expect(prefix).toBe(key.slice(0, 12));
  expect(hash.equals(createHash("sha256").update(key).digest())).toBe(true);
  expect(hashApiKey(key)?.equals(hash)).toBe(true);
});

test("keys never repeat and use the whole alphabet", () => {
  const keys = Array.from({ length: 500 }, () => newApiKey().key);
  expect(new Set(keys).size).toBe(500);
  expect(new Set(keys.map((key) => key.slice(8)).join("")).size).toBe(62);
});

test.each([
  [""],
  ["sw_live_"],
  [`sw_live_${"a".repeat(39)}`],
  [`sw_live_${"a".repeat(41)}`],
  [`sw_test_${"a".repeat(40)}`],
  [`sw_live_${"a".repeat(39)}\n`],
  [` sw_live_${"a".repeat(40)}`],
  ["x".repeat(1_000_000)],
])("what cannot be a key has no hash (%#)", (text) => {
  expect(hashApiKey(text)).toBeNull();
});
