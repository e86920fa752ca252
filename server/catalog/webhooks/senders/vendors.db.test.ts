import { createHmac } from "node:crypto";
import { sign } from "@octokit/webhooks-methods";
import { Webhook } from "standardwebhooks";
import Stripe from "stripe";
import { describe, expect, it } from "vitest";
import { handleWebhook } from "@/server/api/webhook";
import { redeliver } from "@/server/catalog/webhooks/redeliver";
import { createMember } from "@/testing/runs";
import { createTenant, createTrigger, openWorld } from "@/testing/world";
import { inspectDelivery } from "../inspect-deliveries";
import type { SignatureDefinition } from "./signature-definition";

const SECRET = "a secret & more";
const FORM = "application/x-www-form-urlencoded";

const world = await openWorld();
const tenant = await createTenant(world, { credits: "100000" });

type Options = { body?: string | null; method?: string; query?: string };

async function send(token: string, headers: Record<string, string>, options: Options = {}) {
  const { body = "{}", method = "POST", query = "" } = options;
  const request = new Request(`${world.env.appUrl}/webhooks/${token}${query}`, {
    method,
    headers: { "Content-Type": "application/json", ...headers },
    ...(method === "POST" ? { body } : {}),
  });
  const response = await handleWebhook(world, request);
  const text = await response.text();
  return {
    status: response.status,
    type: response.headers.get("Content-Type"),
    replayed: response.headers.get("Idempotent-Replayed"),
    text,
  };
}

const create = (
  signature: SignatureDefinition,
  options: { filter?: string; target?: "agent" | "tool" } = {},
) =>
  createTrigger(world, tenant, {
    secrets: [SECRET],
    signature,
    rateLimit: { requests: 1000, seconds: 60 },
    ...options,
  });

const runsOf = (triggerId: string) => world.db.run.findMany({ where: { triggerId }, orderBy: { id: "asc" } });
const deliveriesOf = (triggerId: string) =>
  world.db.delivery.findMany({ where: { triggerId }, orderBy: { id: "asc" } });

async function checkOf(triggerId: string) {
  const [delivery] = (await deliveriesOf(triggerId)).slice(-1);
  const viewer = await createMember(world, tenant, "viewer");
  return (await inspectDelivery(world, viewer, { deliveryId: delivery?.id ?? "" })).signatureCheck;
}

const seconds = () => Math.floor(world.clock.now().getTime() / 1000);
const stripe = (payload: string, timestamp = seconds()) => ({
  "Stripe-Signature": new Stripe("sk_test_none").webhooks.generateTestHeaderString({
    payload,
    secret: SECRET,
    timestamp,
  }),
});
const slack = (body: string, type = "application/json") => ({
  "Content-Type": type,
  "X-Slack-Request-Timestamp": String(seconds()),
  "X-Slack-Signature": `v0=${createHmac("sha256", SECRET).update(`v0:${seconds()}:${body}`).digest("hex")}`,
});

describe("a sender's id of the event", () => {
  it("in Stripe's body starts one run, whatever the second body is, and answers as the first did", async () => {
    const { id, token } = await create("stripe");
    const body = '{"id":"evt_1","type":"charge.refunded"}';
    const first = await send(token, stripe(body), { body });
    expect(first).toMatchObject({ status: 200, replayed: null });
    const other = '{"id":"evt_1","type":"charge.refunded","attempt":2}';
    expect(await send(token, stripe(other), { body: other })).toEqual({ ...first, replayed: "true" });
    // The headers of other senders do not count.
    const renamed = { ...stripe(body), "Idempotency-Key": "new", "webhook-id": "new" };
    expect(await send(token, renamed, { body })).toEqual({ ...first, replayed: "true" });
    expect(await runsOf(id)).toHaveLength(1);
    const outcomes = (await deliveriesOf(id)).map(({ outcome, senderId }) => [outcome, senderId]);
    expect(outcomes).toEqual([
      ["accepted", "evt_1"],
      ["repeated", "evt_1"],
      ["repeated", "evt_1"],
    ]);
  });

  it.each([
    [
      "github",
      "X-GitHub-Delivery",
      async (body: string) => ({ "X-Hub-Signature-256": await sign(SECRET, body) }),
    ],
    [
      "shopify",
      "X-Shopify-Webhook-Id",
      // https://shopify.dev/docs/apps/build/webhooks/verify-deliveries
      async (body: string) => ({
        "X-Shopify-Hmac-Sha256": createHmac("sha256", SECRET).update(body).digest("base64"),
      }),
    ],
    ["gitlab", "Idempotency-Key", async () => ({ "X-Gitlab-Token": SECRET })],
  ] as const)("of %s is in %s", async (preset, header, signed) => {
    const { id, token } = await create(preset);
    const body = '{"n":1}';
    const call = async (event: string) => send(token, { ...(await signed(body)), [header]: event }, { body });
    const first = await call("one");
    expect(first.status).toBe(200);
    expect(await call("one")).toEqual({ ...first, replayed: "true" });
    expect((await call("two")).text).not.toBe(first.text);
    expect(await runsOf(id)).toHaveLength(2);
    expect(await send(token, { [header]: "three" }, { body })).toMatchObject({ status: 401 });
  });

  it("of Svix is in svix-id, also without a secret; no other header counts", async () => {
    const secret = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
    const signed = {
      "svix-id": "msg_1",
      "svix-timestamp": String(seconds()),
      "svix-signature": new Webhook(secret).sign("msg_1", world.clock.now(), "{}"),
    };
    for (const secrets of [[secret], []]) {
      const { id, token } = await createTrigger(world, tenant, { secrets, signature: "svix" });
      const first = await send(token, signed);
      expect(first.status).toBe(200);
      const again = { ...signed, "Idempotency-Key": "new", "webhook-id": "new" };
      expect(await send(token, again)).toEqual({ ...first, replayed: "true" });
      expect(await deliveriesOf(id)).toMatchObject([{ senderId: "msg_1" }, { senderId: "msg_1" }]);
    }
  });

  it.each(["Idempotency-Key", "webhook-id"])(
    "is in %s if the sender gives none of its own",
    async (header) => {
      const body = '{"n":1}';
      const hub = { "X-Hub-Signature-256": await sign(SECRET, body) };
      for (const [preset, signed] of [
        ["meta", hub],
        ["github", hub],
        ["stripe", stripe(body)],
        ["telegram", { "X-Telegram-Bot-Api-Secret-Token": SECRET }],
      ] as const) {
        const { id, token } = await create(preset);
        const first = await send(token, { ...signed, [header]: "one" }, { body });
        expect([preset, first.status]).toEqual([preset, 200]);
        expect(await send(token, { ...signed, [header]: "one" }, { body })).toEqual({
          ...first,
          replayed: "true",
        });
        await send(token, { ...signed, [header]: "two" }, { body });
        expect(await runsOf(id)).toHaveLength(2);
      }
    },
  );

  it("in a signed body counts before the headers, so that no header repeats a captured call", async () => {
    const { id, token } = await create("stripe");
    const body = '{"id":"evt_2"}';
    const first = await send(token, stripe(body), { body });
    const again = await send(token, { ...stripe(body), "Idempotency-Key": "other" }, { body });
    expect(again).toEqual({ ...first, replayed: "true" });
    expect(await runsOf(id)).toHaveLength(1);
  });

  it("of Telegram is a number", async () => {
    const { id, token } = await create("telegram");
    const headers = { "X-Telegram-Bot-Api-Secret-Token": SECRET };
    const call = () => send(token, headers, { body: '{"update_id":42,"message":{"text":"hi"}}' });
    const first = await call();
    expect(await call()).toEqual({ ...first, replayed: "true" });
    expect(await runsOf(id)).toHaveLength(1);
  });

  it("in the body that does not have the form of an id is rejected", async () => {
    const { token } = await create("stripe");
    const body = JSON.stringify({ id: "x".repeat(256) });
    expect(await send(token, stripe(body), { body })).toMatchObject({ status: 400 });
  });
});

describe("a custom sender", () => {
  const custom = {
    header: "X-Acme-Check",
    algorithm: "sha512",
    encoding: "base64",
    prefix: "acme:",
    signingString: "{timestamp}/{id}/{url}/{body}",
    timestampHeader: "X-Acme-Time",
    toleranceSeconds: 60,
    eventIdHeader: "X-Acme-Event",
    contentTypes: ["application/json", "application/*+json", "text/plain"],
  } satisfies Extract<SignatureDefinition, object>["custom"];

  const signed = (token: string, body: string, { at = seconds(), event = "e-1" } = {}) => {
    const text = `${at}/${event}/${world.env.appUrl}/webhooks/${token}?a=1/${body}`;
    const digest = createHmac("sha512", SECRET).update(text).digest("base64");
    return { "X-Acme-Check": `acme:${digest}`, "X-Acme-Time": String(at), "X-Acme-Event": event };
  };

  it("signs as its rule says, within its tolerance, and its header is not stored", async () => {
    const { id, token } = await create({ custom });
    const query = "?a=1";
    const ok = await send(token, signed(token, "{}"), { query });
    expect(ok.status).toBe(200);
    expect(await send(token, { ...signed(token, "{}"), "Idempotency-Key": "x" }, { query })).toEqual({
      ...ok,
      replayed: "true",
    });
    expect(await send(token, signed(token, "{}"))).toMatchObject({ status: 401 });
    const late = signed(token, "{}", { at: seconds() - 61 });
    expect(await send(token, late, { query })).toMatchObject({ status: 401 });
    const [stored] = await deliveriesOf(id);
    expect(JSON.parse(stored?.headers ?? "")["x-acme-check"]).toBe("[redacted]");
  });

  it.each([
    "application/cloudevents+json",
    "application/cloudevents+json; charset=utf-8",
    "text/plain; charset=UTF-8",
  ])("may send %s", async (type) => {
    const { id, token } = await create({ custom }, { target: "tool" });
    const headers = { ...signed(token, '{"a":2,"b":3}'), "Content-Type": type };
    expect(await send(token, headers, { query: "?a=1", body: '{"a":2,"b":3}' })).toMatchObject({
      status: 200,
    });
    expect(JSON.parse((await runsOf(id))[0]?.input ?? "")).toEqual({ a: 2, b: 3 });
  });
});

describe("bodies that are no plain JSON", () => {
  it("are rejected by a trigger whose sender does not send them", async () => {
    for (const type of [FORM, "text/plain", "application/cloudevents+json"]) {
      const { token } = await createTrigger(world, tenant);
      const rejected = await send(token, { "Content-Type": type });
      expect(rejected).toMatchObject({ status: 400 });
      expect(rejected.text).toContain(`The header Content-Type must be application/json, not ${type}.`);
    }
    const { token } = await create("github");
    const headers = { "X-Hub-Signature-256": await sign(SECRET, "{}"), "Content-Type": "text/xml" };
    expect((await send(token, headers)).text).toContain(`must be application/json or ${FORM}, not text/xml.`);
  });

  it("of a Slack command become an object of texts; Slack gets an empty answer", async () => {
    const { id, token } = await create("slack");
    const body = "command=%2Fask&text=hi+there+%26+you&trigger_id=13345224609.738474920.8088930838d88f008e0";
    const first = await send(token, slack(body, FORM), { body });
    expect(first).toMatchObject({ status: 200, text: "", type: "text/plain; charset=utf-8" });
    expect(await send(token, slack(body, FORM), { body })).toEqual({ ...first, replayed: "true" });
    const [run, ...more] = await runsOf(id);
    expect(more).toEqual([]);
    expect(JSON.parse(run?.input ?? "")).toEqual({
      command: "/ask",
      text: "hi there & you",
      trigger_id: "13345224609.738474920.8088930838d88f008e0",
    });
  });

  it("with a field payload are that document, and are redelivered as such", async () => {
    const { id, token } = await create("github", { target: "tool" });
    const body = new URLSearchParams({ payload: '{"a":21,"b":1}' }).toString();
    const headers = { "X-Hub-Signature-256": await sign(SECRET, body), "Content-Type": FORM };
    expect(await send(token, headers, { body })).toMatchObject({ status: 200 });
    const [delivery] = await deliveriesOf(id);
    await redeliver(world, await createMember(world, tenant, "member"), { deliveryId: delivery?.id ?? "" });
    const inputs = (await runsOf(id)).map(({ input }) => JSON.parse(input));
    expect(inputs).toEqual([
      { a: 21, b: 1 },
      { a: 21, b: 1 },
    ]);
  });

  it("with more than 1,000 fields are rejected after the signature", async () => {
    const { token } = await create("github");
    const body = "a=1&".repeat(1_000);
    expect(await send(token, { "Content-Type": FORM }, { body })).toMatchObject({ status: 401 });
    const headers = { "X-Hub-Signature-256": await sign(SECRET, body), "Content-Type": FORM };
    const rejected = await send(token, headers, { body });
    expect(rejected.status).toBe(400);
    expect(rejected.text).toContain("The form has more than 1,000 fields.");
  });

  it("of Twilio are signed by field; Twilio gets an empty TwiML document", async () => {
    const { id, token } = await create("twilio");
    const url = `${world.env.appUrl}/webhooks/${token}`;
    const body = "To=%2B18005551212&Body=hi&Body=ho&From=%2B14158675309";
    const text = `${url}BodyhiBodyhoFrom+14158675309To+18005551212`;
    const signature = createHmac("sha1", SECRET).update(text).digest("base64");
    const headers = {
      "Content-Type": FORM,
      "X-Twilio-Signature": signature,
      "I-Twilio-Idempotency-Token": "t",
    };
    const first = await send(token, headers, { body });
    expect(first).toMatchObject({ status: 200, text: "<Response/>", type: "text/xml; charset=utf-8" });
    expect(await send(token, headers, { body })).toEqual({ ...first, replayed: "true" });
    const [run] = await runsOf(id);
    expect(JSON.parse(run?.input ?? "")).toEqual({
      To: "+18005551212",
      Body: ["hi", "ho"],
      From: "+14158675309",
    });
    const long = await send(token, headers, { body: "a=1&".repeat(1_000) });
    expect(long).toMatchObject({ status: 401 });
    expect((await checkOf(id))?.likely).toBe("The form has more than 1,000 fields.");
    // The captured signature does not cover JSON.
    const json = { ...headers, "Content-Type": "application/json" };
    expect(await send(token, json, { body: '{"evil":1}' })).toMatchObject({ status: 401 });
  });
});

it("an address that ends with a slash is the trigger's, and is signed as it was called", async () => {
  const { id, token } = await create("trello");
  const url = `${world.env.appUrl}/webhooks/${token}/`;
  const digest = createHmac("sha1", SECRET).update(`{}${url}`).digest("base64");
  expect(await send(`${token}/`, { "X-Trello-Webhook": digest })).toMatchObject({ status: 200 });
  expect(await send(token, { "X-Trello-Webhook": digest })).toMatchObject({ status: 401 });
  expect(await send(`${token}//`, { "X-Trello-Webhook": digest })).toMatchObject({ status: 404 });
  expect(await runsOf(id)).toHaveLength(1);
});

describe("a check of the address", () => {
  it("by Slack is answered with its challenge if it is signed, and starts nothing", async () => {
    const { id, token } = await create("slack");
    const body =
      '{"token":"x","challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P","type":"url_verification"}';
    const answer = await send(token, slack(body), { body });
    expect(answer).toMatchObject({ status: 200, type: "text/plain; charset=utf-8" });
    expect(answer.text).toBe("3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P");
    expect(await send(token, {}, { body })).toMatchObject({ status: 401 });
    expect(await runsOf(id)).toEqual([]);
    expect(await deliveriesOf(id)).toMatchObject([
      { outcome: "filtered", status: 200, reason: "Slack checked the address." },
      { outcome: "rejected", status: 401 },
    ]);
  });

  it("by Slack of a command's address is an unsigned form, and starts nothing", async () => {
    const signed = await create("slack");
    const open = await createTrigger(world, tenant, { signature: "slack" });
    const form = { "Content-Type": FORM };
    for (const { id, token } of [signed, open]) {
      for (const body of ["ssl_check=1&token=abc", "token=abc&ssl_check=1", "ssl_check=1"]) {
        expect(await send(token, form, { body })).toMatchObject({ status: 200, text: "" });
      }
      const stored = { outcome: "filtered", status: 200, reason: "Slack checked the address." };
      expect(await deliveriesOf(id)).toMatchObject([stored, stored, stored]);
      expect(await runsOf(id)).toEqual([]);
    }
    // With anything else, it may be an event.
    for (const body of [
      "ssl_check=1&payload=%7B%7D",
      "ssl_check=1&token=abc&command=%2Fask",
      "ssl_check=1&ssl_check=1",
      "ssl_check=0&token=abc",
      "token=abc",
      `ssl_check=1&token=${"a".repeat(1024)}`,
    ]) {
      expect(await send(signed.token, form, { body })).toMatchObject({ status: 401 });
    }
    const json = { body: '{"ssl_check":"1"}' };
    expect(await send(signed.token, {}, json)).toMatchObject({ status: 401 });
    const github = await create("github");
    expect(await send(github.token, form, { body: "ssl_check=1" })).toMatchObject({ status: 401 });
  });

  it.each([
    ["meta", "GET", "?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=t", "1158201444"],
    ["dropbox", "GET", "?challenge=abc123", "abc123"],
    ["trello", "HEAD", "", ""],
    ["slack", "GET", "?ssl_check=1", ""],
  ] as const)("by %s is a %s", async (preset, method, query, text) => {
    const { id, token } = await create(preset);
    expect(await send(token, {}, { method, query })).toMatchObject({ status: 200, text });
    expect(await deliveriesOf(id)).toMatchObject([{ outcome: "filtered", status: 200 }]);
    const plain = await createTrigger(world, tenant);
    expect(await send(plain.token, {}, { method, query })).toMatchObject({ status: 405 });
    expect(await send(token, {}, { method: "PUT" })).toMatchObject({ status: 405 });
  });

  it("echoes nothing that a browser could take for a page", async () => {
    const { id, token } = await create("dropbox");
    const request = new Request(
      `${world.env.appUrl}/webhooks/${token}?challenge=${encodeURIComponent("<b>x</b>")}`,
    );
    const response = await handleWebhook(world, request);
    expect(response.headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
    expect(response.headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(await send(token, {}, { method: "GET" })).toMatchObject({ status: 400 });
    expect(await send(token, {}, { method: "GET", query: "?challenge=%00" })).toMatchObject({ status: 400 });
    const outcomes = (await deliveriesOf(id)).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(["filtered", "rejected", "rejected"]);
  });
});

describe("a rejected signature", () => {
  it("shows what was checked, but never the right digest", async () => {
    const { id, token } = await create("stripe");
    const body = '{"id":"evt_1"}';
    const t = seconds();
    const right = createHmac("sha256", SECRET).update(`${t}.${body}`).digest("hex");
    const headers = { "Stripe-Signature": `t=${t},v1=${"c09e".repeat(16)}` };
    expect(await send(token, headers, { body })).toMatchObject({ status: 401 });
    const check = await checkOf(id);
    expect(check).toEqual({
      header: "stripe-signature",
      expected: "HMAC-SHA256 in hex of {timestamp}.{body}",
      signed: { start: `${t}.${body}`, bytes: String(t).length + 1 + body.length },
      received: { length: 64, encoding: "hex", start: "c09e" },
      likely: "Stripe signs with another secret, or something changed the call on its way.",
    });
    const [stored] = await deliveriesOf(id);
    const text = JSON.stringify(stored);
    for (let at = 0; at + 8 <= right.length; at += 1) expect(text).not.toContain(right.slice(at, at + 8));
  });

  it.each([
    ["written again without spaces", '{ "id": "evt_1",\n "n": 1.50 }', '{"id":"evt_1","n":1.5}'],
    ["written again by Python", '{"id":"a:b, c","n":[1,2]}', '{"id": "a:b, c", "n": [1, 2]}'],
    ["with a line break added", '{"id":"evt_1"}\n', '{"id":"evt_1"}'],
  ])("names a body that was %s", async (_name, received, sent) => {
    const { id, token } = await create("stripe");
    expect(await send(token, stripe(sent), { body: received })).toMatchObject({ status: 401 });
    expect((await checkOf(id))?.likely).toContain("The body was parsed and written again on its way.");
  });

  it.each([
    ["many levels", 33, 0],
    ["many values", 32, 10_000],
  ])(
    "writes no body with %s again: indented it would be a thousand times as long",
    async (_name, depth, values) => {
      const { id, token } = await create("stripe");
      const body = `${"[".repeat(depth)}${"0,".repeat(values)}0${"]".repeat(depth)}`;
      expect(await send(token, stripe(JSON.stringify(JSON.parse(body), null, 2)), { body })).toMatchObject({
        status: 401,
      });
      expect((await checkOf(id))?.likely).toContain("signs with another secret");
    },
  );

  it("names the clock, the missing header, the header of another sender, and the wrong form", async () => {
    const { id, token } = await create("stripe");
    const likely = async (headers: Record<string, string>) => {
      await send(token, headers);
      return (await checkOf(id))?.likely;
    };
    expect(await likely(stripe("{}", seconds() - 412))).toContain(
      "The timestamp is 412 s old; 300 s are allowed.",
    );
    expect(await likely(stripe("{}", seconds() + 412))).toContain(
      "412 s ahead; 300 s are allowed. Check the clocks",
    );
    expect(await likely({})).toContain("The call has no header stripe-signature");
    const github = { "X-Hub-Signature-256": await sign(SECRET, "{}") };
    expect(await likely(github)).toContain("The header x-hub-signature-256 looks like GitHub.");
    expect(await likely({ "Stripe-Signature": `t=${seconds()},v1=abc` })).toContain(
      "with the length of SHA256",
    );
  });

  it("names a secret that is decoded on one side only, and shows nothing of a token", async () => {
    const encoded = Buffer.alloc(24, 7).toString("base64");
    const { id, token } = await createTrigger(world, tenant, { secrets: [encoded], signature: "github" });
    const key = Buffer.from(encoded, "base64");
    const digest = createHmac("sha256", key).update("{}").digest("hex");
    await send(token, { "X-Hub-Signature-256": `sha256=${digest}` });
    expect((await checkOf(id))?.likely).toContain("decodes the secret from base64");
    const gitlab = await create("gitlab");
    await send(gitlab.token, { "X-Gitlab-Token": ` ${SECRET.slice(0, -1)}` });
    expect(await checkOf(gitlab.id)).toMatchObject({ signed: null, received: { start: "" } });
  });

  it.each(["", "/"])("masks the address's token, which viewers do not see: [token]%s", async (end) => {
    const { id, token } = await create("trello");
    await send(token + end, { "X-Trello-Webhook": Buffer.alloc(20).toString("base64") });
    const check = await checkOf(id);
    expect(check?.signed?.start).toBe(`{}${world.env.appUrl}/webhooks/[token]${end}`);
    expect(JSON.stringify(check)).not.toContain(token);
  });
});

describe("a filter", () => {
  const filter = 'body.type in ["charge.refunded", "charge.dispute.created"]';
  const FILTERED = '{"success":false,"runId":null,"type":"agent"}';

  it("lets some calls pass and keeps the others as filtered deliveries", async () => {
    const { id, token } = await create("stripe", { filter });
    const call = (event: string, type: string) => {
      const body = JSON.stringify({ id: event, type });
      return send(token, stripe(body), { body });
    };
    const other = await call("evt_1", "invoice.created");
    expect(other).toMatchObject({ status: 200, text: FILTERED });
    expect(await call("evt_1", "invoice.created")).toEqual(other);
    const refund = await call("evt_2", "charge.refunded");
    expect(refund).toMatchObject({ status: 200 });
    expect(refund.text).toContain('"success":true');
    expect(await runsOf(id)).toHaveLength(1);
    const deliveries = await deliveriesOf(id);
    expect(deliveries.map(({ outcome }) => outcome)).toEqual(["filtered", "filtered", "accepted"]);
    expect(deliveries[0]).toMatchObject({ status: 200, code: null, runId: null, senderId: "evt_1" });
    expect(Buffer.from(deliveries[0]?.body ?? "").toString()).toContain("invoice.created");

    // A person may start it all the same.
    const member = await createMember(world, tenant, "member");
    await redeliver(world, member, { deliveryId: deliveries[0]?.id ?? "" });
    expect(await runsOf(id)).toHaveLength(2);

    // A repetition gets the first answer, also when the filter would reject it now.
    await world.db.trigger.update({ where: { id }, data: { filter: "false" } });
    expect(await call("evt_2", "charge.refunded")).toEqual({ ...refund, replayed: "true" });
    expect(await call("evt_3", "charge.refunded")).toMatchObject({ text: FILTERED });
  });

  it("rejects calls with 200 though the trigger's rate limit is reached, and they do not count", async () => {
    const { id, token } = await create("stripe", { filter });
    await world.db.trigger.update({ where: { id }, data: { rateLimitRequests: 1 } });
    const call = (event: string, type: string) => {
      const body = JSON.stringify({ id: event, type });
      return send(token, stripe(body), { body });
    };
    const statusOf = async (event: string, type: string) => (await call(event, type)).status;
    expect(await statusOf("evt_1", "invoice.created")).toBe(200);
    expect(await statusOf("evt_2", "charge.refunded")).toBe(200);
    expect(await statusOf("evt_3", "charge.refunded")).toBe(429);
    expect(await call("evt_4", "invoice.created")).toMatchObject({ status: 200, text: FILTERED });
  });

  it.each([
    ["fails", "$error('no')", "no"],
    ["gives a text", "body.id", "it must give true or false."],
  ])("that %s is 400 and kept", async (_name, broken, reason) => {
    const { id, token } = await create("stripe", { filter: broken });
    const body = '{"id":"evt_1"}';
    const rejected = await send(token, stripe(body), { body });
    expect(rejected).toMatchObject({ status: 400 });
    expect(JSON.parse(rejected.text)).toMatchObject({ code: "trigger_misconfigured" });
    const [stored] = await deliveriesOf(id);
    expect(stored).toMatchObject({ outcome: "rejected", status: 400, code: "trigger_misconfigured" });
    expect(stored?.reason).toContain(`The trigger's filter fails: ${reason}`);
    expect(await runsOf(id)).toEqual([]);
  });

  it("that finds nothing rejects", async () => {
    const { token } = await createTrigger(world, tenant, { filter: "body.wanted" });
    expect(await send(token, {})).toMatchObject({ status: 200, text: FILTERED });
    expect((await send(token, {}, { body: '{"wanted":true}' })).text).toContain('"success":true');
  });
});
