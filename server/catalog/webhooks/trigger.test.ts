import { expect, test } from "vitest";
import { hashToken, newTriggerToken, triggerUrl } from "@/server/catalog/webhooks/trigger";

test("tokens are url-safe, long and never repeat", () => {
  const tokens = Array.from({ length: 200 }, newTriggerToken);
  expect(new Set(tokens).size).toBe(200);
  for (const token of tokens) {
    expect(token).toMatch(/^[\w-]{32}$/);
    expect(new URL(triggerUrl("https://run.test", token)).pathname).toBe(`/webhooks/${token}`);
  }
});

test("the hash is the SHA-256 of the token", () => {
  expect(hashToken("abc").toString("hex")).toBe(
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
});
