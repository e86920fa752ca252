import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { signedHeaders } from "@/server/catalog/callbacks/send/sign";
import { CallbackError, signWebhook, verifyCallback } from "./src/index.js";

const secretOf = (text: string) => `whsec_${Buffer.from(text).toString("base64")}`;
const SECRET = secretOf("\0\x01 a secret of 24 bytes");
const OTHER = secretOf("another secret, another");
const BODY =
  '{"type":"run.completed","timestamp":"2026-11-26T10:00:00.000Z","data":{"id":"x","name":"Café"}}';
const AT = new Date("2026-11-26T10:00:00Z");
const NOW = { now: AT.getTime() };

const sign = (secret: string, { body = BODY, at = AT } = {}) => ({
  "webhook-id": "msg_1",
  "webhook-timestamp": String(at.getTime() / 1_000),
  "webhook-signature": new Webhook(secret).sign("msg_1", at, body),
});

describe("verifyCallback", () => {
  it("takes what standardwebhooks signs, as text and bytes, with any form of headers", async () => {
    const headers = sign(SECRET);
    const expected = {
      id: "msg_1",
      type: "run.completed",
      timestamp: "2026-11-26T10:00:00.000Z",
      data: { id: "x", name: "Café" },
    };
    const bytes = new TextEncoder().encode(BODY);
    const upper = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
    );
    expect(await verifyCallback(SECRET, headers, BODY, NOW)).toEqual(expected);
    expect(await verifyCallback(SECRET, new Headers(headers), bytes, NOW)).toEqual(expected);
    expect(await verifyCallback(SECRET, upper, bytes.buffer, NOW)).toEqual(expected);
    expect(await verifyCallback(SECRET, headers, Buffer.from(BODY), NOW)).toEqual(expected);
  });

  it("takes what the service signs, during a rotation too", async () => {
    const headers = signedHeaders([OTHER, SECRET], { id: "msg_1", at: AT, body: BODY });
    for (const secret of [SECRET, OTHER]) {
      expect(await verifyCallback(secret, headers, BODY, NOW)).toMatchObject({ id: "msg_1" });
    }
  });

  it("takes one valid signature of several, and one valid secret of several", async () => {
    const headers = sign(SECRET);
    const both = `${sign(OTHER)["webhook-signature"]} v1a,x v1, ${headers["webhook-signature"]}`;
    await verifyCallback(SECRET, { ...headers, "webhook-signature": both }, BODY, NOW);
    await verifyCallback([OTHER, SECRET], headers, BODY, NOW);
  });

  const seconds = AT.getTime() / 1_000;
  it.each<[string, Record<string, string>, string]>([
    ["another body", {}, `${BODY} `],
    ["another id", { "webhook-id": "msg_2" }, BODY],
    ["another time", { "webhook-timestamp": String(seconds + 1) }, BODY],
    ["another secret", sign(OTHER), BODY],
    ["no signature", { "webhook-signature": "" }, BODY],
    ["a signature that is not base64", { "webhook-signature": "v1,?" }, BODY],
    ["no time", { "webhook-timestamp": "now" }, BODY],
    ["a shorter signature", { "webhook-signature": sign(SECRET)["webhook-signature"].slice(0, 20) }, BODY],
    ["a time of long ago", sign(SECRET, { at: new Date(AT.getTime() - 301_000) }), BODY],
    ["a time to come", sign(SECRET, { at: new Date(AT.getTime() + 301_000) }), BODY],
    ["a body that is no callback", sign(SECRET, { body: "[1]" }), "[1]"],
  ])("rejects %s", async (_, change, body) => {
    await expect(verifyCallback(SECRET, { ...sign(SECRET), ...change }, body, NOW)).rejects.toThrow(
      CallbackError,
    );
  });

  it("takes times within the tolerance", async () => {
    const late = sign(SECRET, { at: new Date(AT.getTime() - 299_000) });
    await verifyCallback(SECRET, late, BODY, NOW);
    await expect(verifyCallback(SECRET, late, BODY, { ...NOW, toleranceSeconds: 60 })).rejects.toThrow(
      CallbackError,
    );
  });

  it("names a secret that is none", async () => {
    await expect(verifyCallback("whsec_", sign(SECRET), BODY, NOW)).rejects.toThrow(
      "The secret is not valid",
    );
  });
});

it("signWebhook makes the signature of the bytes", async () => {
  const expected = createHmac("sha256", "s3cret").update(BODY).digest("hex");
  expect(await signWebhook("s3cret", BODY)).toBe(expected);
  expect(await signWebhook("s3cret", Buffer.from(BODY))).toBe(expected);
});
