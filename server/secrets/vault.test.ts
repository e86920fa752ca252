import { expect, test } from "vitest";
import { createVault, VaultError } from "@/server/secrets/vault";

const vault = createVault("a secret of at least thirty-two characters");

test("a sealed text opens for the same purpose, also in a new vault of the same secret", () => {
  for (const plain of ["", "s3cret", "Grüße 🌍", "x".repeat(10_000)]) {
    const sealed = vault.seal(plain, "trigger-secret:1");
    expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]{16}\.[\w-]*\.[\w-]{22}$/);
    const again = createVault("a secret of at least thirty-two characters");
    expect(again.open(sealed, "trigger-secret:1")).toBe(plain);
  }
});

test("sealing twice gives two texts, neither containing the plain one", () => {
  const first = vault.seal("s3cret", "p");
  expect(vault.seal("s3cret", "p")).not.toBe(first);
  expect(first).not.toContain("s3cret");
});

test("a sealed text opens neither for another purpose nor under another secret", () => {
  const sealed = vault.seal("s3cret", "trigger-secret:1");
  expect(() => vault.open(sealed, "trigger-secret:2")).toThrow(VaultError);
  const other = createVault("another secret of at least thirty-two characters");
  expect(() => other.open(sealed, "trigger-secret:1")).toThrow(VaultError);
});

test("a sealed text with any changed part does not open", () => {
  const parts = vault.seal("s3cret", "p").split(".");
  for (let index = 0; index < parts.length; index += 1) {
    const changed = parts.map((part, at) =>
      at === index ? `${part.startsWith("A") ? "B" : "A"}${part.slice(1)}` : part,
    );
    expect(() => vault.open(changed.join("."), "p")).toThrow(VaultError);
  }
});

test.each([["plain text"], ["v1.."], ["v1.AAAA.AAAA.AAAA"], ["v2.a.b.c"], [""], ["v1.a.b.c.d"]])(
  "%s is not a sealed text",
  (text) => {
    expect(() => vault.open(text, "p")).toThrow("not a sealed text");
  },
);

test("a vault opens texts of the previous secret, and seals with the current one", () => {
  const [before, after] = ["x".repeat(32), "y".repeat(32)];
  const sealed = createVault(before).seal("s3cret", "p");
  const both = createVault(after, before);
  expect(both.open(sealed, "p")).toBe("s3cret");
  expect(createVault(after).open(both.seal("s3cret", "p"), "p")).toBe("s3cret");
  expect(() => createVault(after).open(sealed, "p")).toThrow("under another STEPWELL_SECRET");
  expect(both.previousFingerprint).toBe(createVault(before).fingerprint);
});

test("the fingerprint differs between secrets and is stable for one", () => {
  const same = createVault("a secret of at least thirty-two characters");
  expect(same.fingerprint).toBe(vault.fingerprint);
  expect(vault.fingerprint).toMatch(/^[0-9a-f]{16}$/);
  expect(createVault("another secret of at least thirty-two characters").fingerprint).not.toBe(
    vault.fingerprint,
  );
});
