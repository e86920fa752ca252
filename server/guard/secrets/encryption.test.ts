import { expect, test } from "vitest";
import { createEncryption, EncryptionError } from "@/server/guard/secrets/encryption";

const encryption = createEncryption("a secret of at least thirty-two characters");

test("a sealed text opens for the same purpose, also after a restart with the same secret", () => {
  for (const plain of ["", "s3cret", "Grüße 🌍", "x".repeat(10_000)]) {
    const sealed = encryption.seal(plain, "trigger-secret:1");
    expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]{16}\.[\w-]*\.[\w-]{22}$/);
    const again = createEncryption("a secret of at least thirty-two characters");
    expect(again.open(sealed, "trigger-secret:1")).toBe(plain);
  }
});

test("sealed bytes open for the same purpose and secret only, and no change of a byte is overlooked", () => {
  for (const plain of ["", "Grüße 🌍", "x".repeat(300_000)]) {
    const sealed = encryption.sealBytes(plain, "p");
    expect(sealed.subarray(0, 5)).toEqual(encryption.sealedBytesPrefix);
    expect(sealed).toHaveLength(1 + 4 + 12 + 16 + Buffer.byteLength(plain));
    expect(encryption.openBytesOrNull(new Uint8Array(sealed), "p")).toBe(plain);
    expect(encryption.openBytesOrNull(sealed, "q")).toBeNull();
    const other = createEncryption("another secret of at least thirty-two characters");
    expect(other.openBytesOrNull(sealed, "p")).toBeNull();
    const after = createEncryption(
      "another secret of at least thirty-two characters",
      "a secret of at least thirty-two characters",
    );
    expect(after.openBytesOrNull(sealed, "p")).toBe(plain);
  }
  const sealed = encryption.sealBytes("s3cret", "p");
  for (const at of sealed.keys()) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(encryption.openBytesOrNull(changed, "p"), `byte ${at}`).toBeNull();
    expect(encryption.openBytesOrNull(sealed.subarray(0, at), "p"), `${at} bytes`).toBeNull();
  }
});

test("sealing twice gives two texts, neither containing the plain one", () => {
  const first = encryption.seal("s3cret", "p");
  expect(encryption.seal("s3cret", "p")).not.toBe(first);
  expect(first).not.toContain("s3cret");
});

test("a sealed text opens neither for another purpose nor under another secret", () => {
  const sealed = encryption.seal("s3cret", "trigger-secret:1");
  expect(() => encryption.open(sealed, "trigger-secret:2")).toThrow(EncryptionError);
  const other = createEncryption("another secret of at least thirty-two characters");
  expect(() => other.open(sealed, "trigger-secret:1")).toThrow(EncryptionError);
});

test("a sealed text with any changed part does not open", () => {
  const parts = encryption.seal("s3cret", "p").split(".");
  for (let index = 0; index < parts.length; index += 1) {
    const changed = parts.map((part, at) =>
      at === index ? `${part.startsWith("A") ? "B" : "A"}${part.slice(1)}` : part,
    );
    expect(() => encryption.open(changed.join("."), "p")).toThrow(EncryptionError);
  }
});

test.each([["plain text"], ["v1.."], ["v1.AAAA.AAAA.AAAA"], ["v2.a.b.c"], [""], ["v1.a.b.c.d"]])(
  "%s is not a sealed text",
  (text) => {
    expect(() => encryption.open(text, "p")).toThrow("not a sealed text");
  },
);

test("encryption opens texts of the previous secret, and seals with the current one", () => {
  const [before, after] = ["x".repeat(32), "y".repeat(32)];
  const sealed = createEncryption(before).seal("s3cret", "p");
  const both = createEncryption(after, before);
  expect(both.open(sealed, "p")).toBe("s3cret");
  expect(createEncryption(after).open(both.seal("s3cret", "p"), "p")).toBe("s3cret");
  expect(() => createEncryption(after).open(sealed, "p")).toThrow("under another STEPWELL_SECRET");
  expect(both.previousFingerprint).toBe(createEncryption(before).fingerprint);
});

test("the fingerprint differs between secrets and is stable for one", () => {
  const same = createEncryption("a secret of at least thirty-two characters");
  expect(same.fingerprint).toBe(encryption.fingerprint);
  expect(encryption.fingerprint).toMatch(/^[0-9a-f]{16}$/);
  expect(createEncryption("another secret of at least thirty-two characters").fingerprint).not.toBe(
    encryption.fingerprint,
  );
});
