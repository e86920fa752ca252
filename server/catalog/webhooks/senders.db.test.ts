import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { handleWebhook } from "@/server/api/webhook";
import { newId } from "@/server/base/ids";
import { describeSigningSecretIssue } from "@/server/catalog/save-trigger";
import { signingSecretPurpose } from "@/server/catalog/webhooks/trigger";
import { hasProgram } from "@/testing/programs";
import { createTenant, createTrigger, openWorld } from "@/testing/world";
import { storedHeaders } from "./deliveries";
import { redeliver } from "./redeliver";

/** Bytes and signatures were made by other programs. */

const BODY = '{"event":"order.created","note":"naïve – ✓","n":1.0}';
const SECRET = "s3cret & more";

const world = await openWorld();
const tenant = await createTenant(world);

async function send(token: string, headers: Record<string, string>, body = BODY) {
  const response = await handleWebhook(
    world,
    new Request(`http://stepwell.test/webhooks/${token}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body,
    }),
  );
  return { status: response.status, body: await response.json() };
}

describe("hexadecimal signatures", () => {
  const openssl = () =>
    execFileSync("openssl", ["dgst", "-sha256", "-hmac", SECRET], { input: BODY, encoding: "utf8" })
      .replace(/^.*= /, "")
      .trim();
  const python = () =>
    execFileSync(
      "python3",
      [
        "-c",
        "import hmac,hashlib,sys; print(hmac.new(sys.argv[1].encode(), sys.stdin.buffer.read(), hashlib.sha256).hexdigest())",
        SECRET,
      ],
      { input: BODY, encoding: "utf8" },
    ).trim();

  const missing = ["openssl", "python3"].some((program) => !hasProgram(program));
  it.skipIf(missing).each([
    ["openssl dgst -sha256 -hmac", openssl],
    ["Python's hmac", python],
    ["Python's hmac with sha256=", () => `sha256=${python()}`],
    ["upper case", () => openssl().toUpperCase()],
  ])("are accepted as made by %s", async (_name, sign) => {
    const { token } = await createTrigger(world, tenant, { secrets: [SECRET] });
    expect(await send(token, { "X-Signature": sign() })).toMatchObject({ status: 200 });
  });

  it("cover the exact bytes: one more space is rejected", async () => {
    const { token } = await createTrigger(world, tenant, { secrets: [SECRET] });
    const signature = createHmac("sha256", SECRET).update(BODY).digest("hex");
    expect(await send(token, { "X-Signature": signature })).toMatchObject({ status: 200 });
    expect(await send(token, { "X-Signature": signature }, `${BODY} `)).toMatchObject({ status: 401 });
  });

  it("are accepted under two secrets during a rotation, until the old one's end", async () => {
    const { id, token } = await createTrigger(world, tenant, { secrets: ["old", "new"] });
    const old = await world.db.triggerSecret.findMany({ where: { triggerId: id } });
    const [secret] = old.filter(
      ({ sealed }) => world.encryption.open(sealed, signingSecretPurpose(id)) === "old",
    );
    const ends = new Date(world.clock.now().getTime() + 60_000);
    await world.db.triggerSecret.update({ where: { id: secret?.id ?? "" }, data: { expiresAt: ends } });
    const sign = (key: string) => ({ "X-Signature": createHmac("sha256", key).update(BODY).digest("hex") });
    expect(await send(token, sign("old"))).toMatchObject({ status: 200 });
    expect(await send(token, sign("new"))).toMatchObject({ status: 200 });
    const before = world.clock.now();
    world.clock.advance(60_000);
    expect(await send(token, sign("old"))).toMatchObject({ status: 401 });
    expect(await send(token, sign("new"))).toMatchObject({ status: 200 });
    world.clock.set(before);
  });
});

describe("Standard Webhooks", () => {
  const secret = `whsec_${Buffer.from("a secret of 24 bytes, ok").toString("base64")}`;
  const signed = (id: string, at: Date) => ({
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign(id, at, BODY),
  });

  it("are accepted as made by the standardwebhooks package, once per id, within five minutes", async () => {
    const { token } = await createTrigger(world, tenant, {
      secrets: [secret],
      signature: "standard-webhooks",
    });
    const now = world.clock.now();
    const first = await send(token, signed("msg_1", now));
    expect(first.status).toBe(200);
    expect(await send(token, signed("msg_1", now))).toEqual(first);
    // Intercepted and sent again under a new, unsigned id: still the same call.
    expect(await send(token, { ...signed("msg_1", now), "Idempotency-Key": "new" })).toEqual(first);
    const late = new Date(now.getTime() - 301_000);
    expect(await send(token, signed("msg_2", late))).toMatchObject({
      status: 401,
      body: { code: "invalid_signature" },
    });
    const forged = { ...signed("msg_3", now), "webhook-id": "msg_4" };
    expect(await send(token, forged)).toMatchObject({ status: 401 });
    const two = {
      ...signed("msg_5", now),
      "webhook-signature": `v1,AAAA ${signed("msg_5", now)["webhook-signature"]}`,
    };
    expect(await send(token, two)).toMatchObject({ status: 200 });
  });

  it.each([
    ["300 s ago", -300_000, 200],
    ["301 s ago", -301_000, 401],
    ["300 s ahead", 300_000, 200],
    ["301 s ahead", 301_000, 401],
  ])("are signed at most five minutes off, in both directions: %s", async (_name, off, status) => {
    const { token } = await createTrigger(world, tenant, {
      secrets: [secret],
      signature: "standard-webhooks",
    });
    const at = new Date(world.clock.now().getTime() + off);
    expect(await send(token, signed("msg", at))).toMatchObject({ status });
  });
});

describe("the sender's own id", () => {
  it.each(["Idempotency-Key", "webhook-id"])(
    "in %s starts one run, whatever the second body is",
    async (header) => {
      const { id, token } = await createTrigger(world, tenant);
      const first = await send(token, { [header]: "order-42" });
      expect(await send(token, { [header]: "order-42" }, '{"other":1}')).toEqual(first);
      expect(await send(token, { [header]: "order-43" })).not.toEqual(first);
      expect(await world.db.run.count({ where: { triggerId: id } })).toBe(2);
      expect(await send(token, { [header]: "x".repeat(256) })).toMatchObject({ status: 400 });
    },
  );

  it("is known again after a rotation of the secret, and two equal calls without one are two runs", async () => {
    const { id, token } = await createTrigger(world, tenant, { secrets: ["old"] });
    const sign = (key: string) => ({ "X-Signature": createHmac("sha256", key).update(BODY).digest("hex") });
    const first = await send(token, { ...sign("old"), "webhook-id": "msg" });
    const sealed = world.encryption.seal("new", signingSecretPurpose(id));
    await world.db.triggerSecret.updateMany({ where: { triggerId: id }, data: { sealed } });
    expect(await send(token, { ...sign("old"), "webhook-id": "msg" })).toMatchObject({ status: 401 });
    expect(await send(token, { ...sign("new"), "webhook-id": "msg" })).toEqual(first);
    await send(token, sign("new"));
    await send(token, sign("new"));
    expect(await world.db.run.count({ where: { triggerId: id } })).toBe(3);
  });
});

describe("U+0000 and unpaired surrogates", () => {
  it.each([
    ["for a tool", { target: "tool" as const }, '{"a":1,"b":2,"c":"\\u0000"}', 400],
    ["for a template", { messageTemplate: "{{ body.c }}" }, '{"c":"\\u0000"}', 400],
    ["as a bare byte", {}, '{"c":"\0"}', 400],
    ["escaped in an agent's body, which stays the text it is", {}, '{"c":"\\u0000"}', 200],
    ["half a pair for a tool", { target: "tool" as const }, '{"a":1,"b":2,"c":"\\ud83d"}', 400],
    ["half a pair for a template", { messageTemplate: "{{ body.c }}" }, '{"c":"\\ud83d"}', 400],
    ["half a pair in an agent's body", {}, '{"c":"\\ud83d"}', 200],
  ])("%s", async (_name, options, body, status) => {
    const { token } = await createTrigger(world, tenant, options);
    expect(await send(token, {}, body)).toMatchObject({ status });
  });
});

describe("input of hostile callers", () => {
  it("is stored without secret headers", () => {
    const stored = JSON.parse(
      storedHeaders(
        new Headers({
          "X-Auth": "s",
          "X-Functions-Key": "s",
          "X-Gitlab-Token": "s",
          Cookie: "s",
          "X-Signature": "s",
          "X-Session-Id": "s",
          "Idempotency-Key": "kept",
          "webhook-id": "kept",
          "User-Agent": "kept",
          "x-stepwell-peer": "s",
          "X-Acme": "s",
        }),
        "x-acme",
      ),
    );
    const { "idempotency-key": a, "webhook-id": b, "user-agent": c, ...secret } = stored;
    expect([a, b, c]).toEqual(["kept", "kept", "kept"]);
    expect([...new Set(Object.values(secret))]).toEqual(["[redacted]"]);
    expect(Object.keys(secret)).toHaveLength(7);
  });

  it("is never validly signed when the stored secret is empty", async () => {
    const { token } = await createTrigger(world, tenant, {
      secrets: ["whsec_"],
      signature: "standard-webhooks",
    });
    const at = String(Math.floor(world.clock.now().getTime() / 1000));
    const signature = createHmac("sha256", "").update(`m.${at}.${BODY}`).digest("base64");
    const headers = { "webhook-id": "m", "webhook-timestamp": at, "webhook-signature": `v1,${signature}` };
    expect(await send(token, headers)).toMatchObject({ status: 401 });
  });

  it("is rejected as a secret when it is too short", () => {
    expect(describeSigningSecretIssue("standard-webhooks", "A")).toContain("at least 16 bytes");
    expect(describeSigningSecretIssue("standard-webhooks", "whsec_c2hvcnQ=")).toContain("at least 16 bytes");
    const enough = Buffer.alloc(24, 1).toString("base64");
    expect(describeSigningSecretIssue("standard-webhooks", `whsec_${enough}`)).toBeNull();
  });
});

describe("message templates", () => {
  it("build the user message from the body", async () => {
    const { token } = await createTrigger(world, tenant, {
      messageTemplate: "{{ body.event }}: {{ body.n + 1 }}",
    });
    const { body } = await send(token, {});
    const run = await world.db.run.findUniqueOrThrow({ where: { id: body.runId } });
    expect(run.input).toBe("order.created: 2");
  });

  it("reject a body that makes an empty message, and report a failing expression", async () => {
    const empty = await createTrigger(world, tenant, { messageTemplate: "{{ body.missing }}" });
    expect(await send(empty.token, {})).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    const broken = await createTrigger(world, tenant, { messageTemplate: "{{ $number(body.event) }}" });
    expect(await send(broken.token, {})).toMatchObject({
      status: 400,
      body: { code: "trigger_misconfigured" },
    });
  });
});

describe("redelivery", () => {
  it("starts a new run from a stored delivery, rejected or not, and marks it as a redelivery", async () => {
    const actor = {
      kind: "member",
      orgId: tenant.orgId,
      userId: newId(),
      name: "Ada",
      role: "admin",
    } as const;
    const { id, token } = await createTrigger(world, tenant, { secrets: [SECRET] });
    expect(await send(token, { "X-Signature": "0".repeat(64) })).toMatchObject({ status: 401 });
    const rejected = await world.db.delivery.findFirstOrThrow({ where: { triggerId: id } });
    const { runId } = await redeliver(world, actor, { deliveryId: rejected.id });
    const run = await world.db.run.findUniqueOrThrow({ where: { id: runId } });
    expect(run).toMatchObject({ input: BODY, triggerId: id, source: "webhook" });
    const again = await world.db.delivery.findFirstOrThrow({ where: { runId } });
    expect(again).toMatchObject({ outcome: "accepted", redeliveryOf: rejected.id });

    const stranger = await createTenant(world);
    await expect(
      redeliver(world, { ...actor, orgId: stranger.orgId }, { deliveryId: rejected.id }),
    ).rejects.toThrow("not found");
  });
});
