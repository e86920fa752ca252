import { sign } from "@octokit/webhooks-methods";
import { Webhook } from "standardwebhooks";
import Stripe from "stripe";
import { describe, expect, it } from "vitest";
import { sha256 } from "@/server/base/sha256";
import { PRESETS, type PresetName } from "./presets";
import { signCall } from "./sign-call";
import { isSigned } from "./signed-call";

/** Signatures come from the vendors' own libraries, or from the examples in their documentation. */

const NOW = new Date("2026-01-01T12:00:00Z");
const BODY = '{"id":"evt_1","note":"naïve – ✓"}';
const URL_CALLED = "https://stepwell.test/webhooks/token";

type Call = { headers: Record<string, string>; body?: string; url?: string; now?: Date };

function check(
  preset: PresetName,
  secret: string,
  { headers, body = BODY, url = URL_CALLED, now = NOW }: Call,
) {
  const header = (name: string) => headers[name] ?? null;
  return isSigned(PRESETS[preset].rule, [secret], { header, body: Buffer.from(body), url, now });
}

describe("a vendor's signature is accepted, and not over another body", () => {
  it("of Stripe's library, with several signatures, at most 300 s old", () => {
    const secret = "whsec_test_secret";
    const headerAt = (at: Date) =>
      new Stripe("sk_test_none").webhooks.generateTestHeaderString({
        payload: BODY,
        secret,
        timestamp: Math.floor(at.getTime() / 1000),
      });
    const headers = { "stripe-signature": headerAt(NOW) };
    expect(check("stripe", secret, { headers })).toBe(true);
    expect(check("stripe", secret, { headers, body: `${BODY} ` })).toBe(false);
    expect(check("stripe", "whsec_other", { headers })).toBe(false);
    const rolled = headers["stripe-signature"].replace("v1=", `v1=${"0".repeat(64)},v1=`);
    expect(check("stripe", secret, { headers: { "stripe-signature": rolled } })).toBe(true);
    const late = { "stripe-signature": headerAt(new Date(NOW.getTime() - 301_000)) };
    expect(check("stripe", secret, { headers: late })).toBe(false);
    // The timestamp is signed.
    const moved = headers["stripe-signature"].replace(/t=\d+/, `t=${NOW.getTime() / 1000 - 1}`);
    expect(check("stripe", secret, { headers: { "stripe-signature": moved } })).toBe(false);
  });

  it("of GitHub's library", async () => {
    const headers = { "x-hub-signature-256": await sign("s3cret", BODY) };
    expect(check("github", "s3cret", { headers })).toBe(true);
    expect(check("github", "s3cret", { headers, body: "{}" })).toBe(false);
    expect(check("github", "other", { headers })).toBe(false);
  });

  // https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
  it("of GitHub's documentation", () => {
    const headers = {
      "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
    };
    const secret = "It's a Secret to Everybody";
    expect(check("github", secret, { headers, body: "Hello, World!" })).toBe(true);
    expect(check("github", secret, { headers, body: "Hello, World" })).toBe(false);
  });

  // https://docs.slack.dev/authentication/verifying-requests-from-slack
  it("of Slack's documentation, at most 300 s old", () => {
    const body =
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V" +
      "&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=" +
      "&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN" +
      "&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
    const headers = {
      "x-slack-request-timestamp": "1531420618",
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    };
    const secret = "8f742231b10e8888abcd99yyyzzz85a5";
    const now = new Date(1_531_420_618_000);
    expect(check("slack", secret, { headers, body, now })).toBe(true);
    expect(check("slack", secret, { headers, body: `${body}x`, now })).toBe(false);
    expect(check("slack", secret, { headers, body })).toBe(false);
  });

  // https://www.twilio.com/docs/usage/security#validating-signatures-from-twilio
  it("of Twilio's documentation, over the address and the sorted fields of a form", () => {
    const form = new URLSearchParams({
      To: "+18005551212",
      From: "+14158675309",
      Digits: "1234",
      Caller: "+14158675309",
      CallSid: "CA1234567890ABCDE",
    });
    const url = "https://mycompany.com/myapp.php?foo=1&bar=2";
    const headers = {
      "content-type": "application/x-www-form-urlencoded; charset=utf-8",
      "x-twilio-signature": "RSOYDt4T1cUTdK1PDd93/VVr8B8=",
    };
    const call = { headers, body: form.toString(), url };
    expect(check("twilio", "12345", call)).toBe(true);
    expect(check("twilio", "12345", { ...call, body: `${form}1` })).toBe(false);
    expect(check("twilio", "12345", { ...call, url: `${url}3` })).toBe(false);
  });

  it("of Twilio for a body that is no form only with the body's hash in the signed address", () => {
    const sent = signCall(PRESETS.twilio.rule, "12345", {
      id: "",
      body: Buffer.from(BODY),
      url: URL_CALLED,
      now: NOW,
    });
    const headers = { "content-type": "application/json", ...Object.fromEntries(sent.headers) };
    const url = `${URL_CALLED}?${sent.query}`;
    expect(sent.query).toBe(`bodySHA256=${sha256(BODY).toString("hex")}`);
    expect(check("twilio", "12345", { headers, url })).toBe(true);
    expect(check("twilio", "12345", { headers, url, body: "{}" })).toBe(false);
    const { bodyHashQuery: _, ...unboundRule } = PRESETS.twilio.rule;
    const bare = signCall(unboundRule, "12345", {
      id: "",
      body: Buffer.from(BODY),
      url: URL_CALLED,
      now: NOW,
    });
    const unbound = { "content-type": "application/json", ...Object.fromEntries(bare.headers) };
    expect(check("twilio", "12345", { headers: unbound })).toBe(false);
  });

  // https://github.com/twilio/twilio-node/blob/main/src/webhooks/webhooks.ts
  it.each([
    ["https://stepwell.test:8443", "https://stepwell.test", true],
    ["https://stepwell.test:8443", "https://stepwell.test:443", true],
    ["https://stepwell.test", "https://stepwell.test:443", true],
    ["http://stepwell.test", "http://stepwell.test:80", true],
    ["https://[::1]:8443", "https://[::1]", true],
    ["https://stepwell.test", "https://stepwell.test:80", false],
    ["https://stepwell.test", "https://stepwell.test:8443", false],
    ["https://stepwell.test:8443", "https://other.test", false],
    ["https://stepwell.test:8443", "http://stepwell.test", false],
  ])("of Twilio for a call to %s over %s: %s", (called, over, expected) => {
    const path = "/webhooks/token?at=12:30";
    const form = { id: "", body: Buffer.from("a=1"), now: NOW };
    const type = ["content-type", "application/x-www-form-urlencoded"] as const;
    const { bodyHashQuery: _, ...rule } = PRESETS.twilio.rule;
    const { headers } = signCall({ ...rule, signingString: "{url}a1" }, "12345", {
      ...form,
      url: over + path,
    });
    const call = { headers: Object.fromEntries([type, ...headers]), body: "a=1", url: called + path };
    expect(check("twilio", "12345", call)).toBe(expected);
    expect(check("twilio", "other", call)).toBe(false);
  });

  it("of Twilio over at most 1,000 fields, which are read before the signature is checked", () => {
    const headers = {
      "content-type": "application/x-www-form-urlencoded",
      "x-twilio-signature": "RSOYDt4T1cUTdK1PDd93/VVr8B8=",
    };
    expect(check("twilio", "12345", { headers, body: "a=1&".repeat(999) })).toBe(false);
    expect(check("twilio", "12345", { headers, body: "a=1&".repeat(250_000) })).toBe(false);
  });

  it.each([
    ["standard-webhooks", "webhook"],
    ["svix", "svix"],
  ] as const)("of the standardwebhooks package, for %s", (preset, start) => {
    const secret = `whsec_${Buffer.from("a secret of 24 bytes, ok").toString("base64")}`;
    const headers = {
      [`${start}-id`]: "msg_1",
      [`${start}-timestamp`]: String(NOW.getTime() / 1000),
      [`${start}-signature`]: new Webhook(secret).sign("msg_1", NOW, BODY),
    };
    expect(check(preset, secret, { headers })).toBe(true);
    expect(check(preset, secret, { headers: { ...headers, [`${start}-id`]: "msg_2" } })).toBe(false);
  });
});

it.each(["gitlab", "telegram"] as const)("%s: the header has the secret itself", (preset) => {
  const { header } = PRESETS[preset].rule;
  expect(check(preset, "s3cret", { headers: { [header]: "s3cret" } })).toBe(true);
  for (const token of ["s3cre", "s3cret ", "S3cret", ""]) {
    expect(check(preset, "s3cret", { headers: { [header]: token } })).toBe(false);
  }
  expect(check(preset, "s3cret", { headers: {} })).toBe(false);
});

it.each(Object.entries(PRESETS))(
  "%s: accepts what signCall makes, in a header without capitals",
  (_name, { rule }) => {
    const secret = Buffer.alloc(24, "k").toString("base64");
    const body = Buffer.from(BODY);
    const { headers, query } = signCall(rule, secret, { id: "id-1", body, url: URL_CALLED, now: NOW });
    const sent = new Map([...headers, ["content-type", "application/json"]]);
    const url = query === "" ? URL_CALLED : `${URL_CALLED}?${query}`;
    const call = { header: (name: string) => sent.get(name) ?? null, body, url, now: NOW };
    expect(isSigned(rule, ["other", secret], call)).toBe(true);
    expect(isSigned(rule, [Buffer.alloc(24, "x").toString("base64")], call)).toBe(false);
    expect(rule.header).toBe(rule.header.toLowerCase());
  },
);
