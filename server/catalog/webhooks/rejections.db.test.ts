import { describe, expect, it } from "vitest";
import { handleWebhook } from "@/server/api/webhook";
import { newId } from "@/server/base/ids";
import { removeExpired } from "@/server/operate/retention";
import { createMember } from "@/testing/runs";
import { createTenant, createTrigger, openWorld } from "@/testing/world";
import { recordDelivery } from "./deliveries";
import { UNACCEPTED } from "./delivery-bounds";
import { inspectDelivery, previewMessage } from "./inspect-deliveries";
import { redeliver } from "./redeliver";

const FORGED = { "X-Signature": "0".repeat(64) };

const world = await openWorld();
const tenant = await createTenant(world);

async function send(token: string, init: RequestInit & { headers?: Record<string, string> } = {}) {
  const { headers, ...rest } = init;
  const request = new Request(`http://stepwell.test/webhooks/${token}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    ...rest,
  });
  const response = await handleWebhook(world, request);
  return { status: response.status, body: await response.json() };
}

const deliveriesOf = (triggerId: string) =>
  world.db.delivery.findMany({ where: { triggerId }, orderBy: { id: "asc" } });

async function detailOf(deliveryId: string) {
  return inspectDelivery(world, await createMember(world, tenant, "viewer"), { deliveryId });
}

describe("a rejected call is stored", () => {
  it.each(["GET", "PUT", "DELETE", "OPTIONS"])("of the method %s", async (method) => {
    const { id, token } = await createTrigger(world, tenant);
    expect(await send(token, { method })).toMatchObject({ status: 405 });
    const [stored, ...rest] = await deliveriesOf(id);
    expect(rest).toEqual([]);
    expect(stored).toMatchObject({ outcome: "rejected", status: 405, code: "method_not_allowed" });
    expect(stored?.bodyNote).toBe("the call was rejected before it was read");
  });

  it("larger than 1 MiB, with the size that it claimed and why there is no body", async () => {
    const { id, token } = await createTrigger(world, tenant);
    const body = `"${"x".repeat(1024 * 1024)}"`;
    const headers = { "Content-Length": String(body.length) };
    expect(await send(token, { body, headers })).toMatchObject({ status: 413 });
    const [stored] = await deliveriesOf(id);
    expect(stored).toMatchObject({
      status: 413,
      bodyBytes: body.length,
      bodyNote: "it is larger than 1 MiB",
    });
    const lie = { "Content-Length": "99999999999999" };
    expect(await send(token, { body, headers: lie })).toMatchObject({ status: 413 });
    expect((await deliveriesOf(id))[1]).toMatchObject({ bodyBytes: 2 ** 31 - 1 });
  });

  it("with an incomplete body: rejected, not an internal error", async () => {
    const { id, token } = await createTrigger(world, tenant);
    const init = {
      duplex: "half",
      body: new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('{"half":'));
          controller.error(new Error("The client went away."));
        },
      }),
    };
    expect(await send(token, init)).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    expect(await deliveriesOf(id)).toMatchObject([
      { status: 400, reason: "The body ended before it was complete." },
    ]);
  });

  it("when the signing secret can no longer be read", async () => {
    const { id, token } = await createTrigger(world, tenant, { secrets: ["s3cret"] });
    await world.db.triggerSecret.updateMany({ where: { triggerId: id }, data: { sealed: "v1.broken" } });
    expect(await send(token, { body: "{}" })).toMatchObject({
      status: 400,
      body: { code: "trigger_misconfigured" },
    });
    const [stored] = await deliveriesOf(id);
    expect(stored).toMatchObject({ code: "trigger_misconfigured", bodyNote: null });
    expect(stored?.reason).toContain("secret cannot be read");
    expect(Buffer.from(stored?.body ?? []).toString()).toBe("{}");
  });

  it("once a minute for a flood, noting that there may be more", async () => {
    const { id, token } = await createTrigger(world, tenant);
    const flood = { method: "PUT", headers: { "x-stepwell-peer": "192.0.2.99" } };
    for (let call = 0; call < 300; call += 1) expect((await send(token, flood)).status).toBe(405);
    const post = { body: "{}", headers: flood.headers };
    for (let call = 0; call < 3; call += 1) expect((await send(token, post)).status).toBe(429);
    const stored = await deliveriesOf(id);
    expect(stored).toHaveLength(301);
    expect(stored.at(-1)).toMatchObject({ status: 429, code: "rate_limited" });
    expect(stored.at(-1)?.reason).toContain("at most 300 in 60 seconds");
    expect(stored.at(-1)?.reason).toContain("in the same minute are not recorded");
    expect((await send(token, { body: "{}", headers: { "x-stepwell-peer": "192.0.2.98" } })).status).toBe(
      200,
    );
  });
});

describe("rejected bodies are bounded", () => {
  const large = JSON.stringify({ padding: "x".repeat(1_000_000) });

  it("some large ones are stored in a minute, the facts of all, and the reason is shown", async () => {
    const { id, token } = await createTrigger(world, tenant, { secrets: ["s3cret"] });
    for (let call = 0; call < 10; call += 1) await send(token, { body: large, headers: FORGED });
    const stored = await deliveriesOf(id);
    expect(stored.map(({ body }) => body.length > 0)).toEqual([...Array(8).fill(true), false, false]);
    expect(stored.every(({ bodyBytes }) => bodyBytes === large.length)).toBe(true);
    const cut = stored.at(-1)?.id ?? "";
    const detail = await detailOf(cut);
    expect(detail).toMatchObject({ bodyBytes: large.length, body: { kind: "empty" } });
    expect(detail.bodyNote).toBe(
      "more than 8 MiB of calls that started nothing came to this trigger in a minute",
    );
    const member = await createMember(world, tenant, "member");
    await expect(redeliver(world, member, { deliveryId: cut })).rejects.toThrow(
      "body was not stored: more than 8 MiB",
    );
    const template = "{{ body.padding }}";
    await expect(previewMessage(world, member, { deliveryId: cut, template })).rejects.toThrow("not stored");
    // A small body is stored nevertheless, and a large one again a little later.
    await send(token, { body: "{}", headers: FORGED });
    world.clock.advance(10_000);
    await send(token, { body: large, headers: FORGED });
    expect((await deliveriesOf(id)).slice(-2).map(({ bodyNote }) => bodyNote)).toEqual([null, null]);
  });

  it.each([
    { outcome: "rejected", status: 401, code: "invalid_signature", reason: "no" },
    { outcome: "filtered", reason: null },
  ] as const)("beyond 256 MiB of a trigger, the hourly job removes the oldest: $outcome", async (outcome) => {
    const [mine, other] = [await createTrigger(world, tenant), await createTrigger(world, tenant)];
    const keep = async (triggerId: string) => {
      const delivery = {
        id: newId(),
        headers: "{}",
        body: Buffer.from("x"),
        senderId: null,
        redeliveryOf: null,
      };
      await recordDelivery(
        world,
        { orgId: tenant.orgId, triggerId },
        { delivery, outcome, receivedAt: world.clock.now() },
      );
      // So large that three exceed the limit.
      const bodyBytes = UNACCEPTED.kept.bodyBytes / 2;
      await world.db.delivery.update({ where: { id: delivery.id }, data: { bodyBytes } });
      return delivery.id;
    };
    const ids = [await keep(mine.id), await keep(mine.id), await keep(mine.id), await keep(other.id)];
    expect((await removeExpired(world))?.rows).toMatchObject({ unacceptedBodies: 1, deliveries: 0 });
    const notes = await Promise.all(ids.map(async (id) => (await detailOf(id)).bodyNote));
    expect(notes).toEqual(["newer calls of this trigger that started nothing replaced it", null, null, null]);
    expect((await removeExpired(world))?.rows).toMatchObject({ unacceptedBodies: 0 });
  });
});

describe("a redelivery that is rejected", () => {
  it("is a delivery too, marked as a redelivery, with its reason", async () => {
    const poor = await createTenant(world);
    const { id, token } = await createTrigger(world, poor);
    const first = await send(token, { body: '{"n":1}' });
    expect(first.status).toBe(200);
    const [accepted] = await deliveriesOf(id);
    const member = await createMember(world, poor, "member");
    const again = () => redeliver(world, member, { deliveryId: accepted?.id ?? "" });

    await world.db.agent.update({ where: { id: poor.agentId }, data: { status: "inactive" } });
    await expect(again()).rejects.toThrow("inactive");
    await world.db.agent.update({ where: { id: poor.agentId }, data: { status: "active" } });
    await world.pool.query("UPDATE plans SET api_access = false WHERE organization_id = $1", [poor.orgId]);
    const { balance } = await world.db.organization.findUniqueOrThrow({ where: { id: poor.orgId } });
    await world.pool.query("UPDATE organizations SET balance = 0 WHERE id = $1", [poor.orgId]);
    await expect(again()).rejects.toThrow("Insufficient credits.");
    await world.pool.query("UPDATE organizations SET balance = $2 WHERE id = $1", [
      poor.orgId,
      balance.toFixed(4),
    ]);
    await again();

    const redeliveryOf = accepted?.id;
    expect((await deliveriesOf(id)).slice(1)).toMatchObject([
      { outcome: "rejected", code: "trigger_misconfigured", redeliveryOf, runId: null },
      { outcome: "rejected", code: "insufficient_credits", status: 400, redeliveryOf, runId: null },
      { outcome: "accepted", redeliveryOf, runId: expect.any(String) },
    ]);
  });
});
