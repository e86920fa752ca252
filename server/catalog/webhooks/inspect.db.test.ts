import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { handleWebhook } from "@/server/api/webhook";
import { signingSecretPurpose } from "@/server/catalog/webhooks/trigger";
import { createMember } from "@/testing/runs";
import { createTenant, createTrigger, openWorld } from "@/testing/world";
import { inspectDelivery, listDeliveries, previewMessage } from "./inspect-deliveries";
import { inspectTrigger } from "./inspect-trigger";
import { redeliver } from "./redeliver";
import { exampleForTemplate } from "./template-example";

const world = await openWorld();
const tenant = await createTenant(world);

async function deliver(token: string, body: string | Uint8Array, headers: Record<string, string> = {}) {
  const request = new Request(`http://stepwell.test/webhooks/${token}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: typeof body === "string" ? body : Uint8Array.from(body),
  });
  return handleWebhook(world, request);
}

describe("a trigger", () => {
  it("shows its address to members and masks it for viewers", async () => {
    const { id, token } = await createTrigger(world, tenant);
    const shown = await inspectTrigger(world, await createMember(world, tenant, "member"), { triggerId: id });
    expect(shown).toMatchObject({ url: `http://stepwell.test/webhooks/${token}`, masked: false });
    const masked = await inspectTrigger(world, await createMember(world, tenant, "viewer"), {
      triggerId: id,
    });
    expect(masked.masked).toBe(true);
    expect(JSON.stringify(masked)).not.toContain(token);
  });

  it("shows live secrets with their ends, and never a secret", async () => {
    const { id } = await createTrigger(world, tenant, { secrets: ["first-secret"] });
    const at = world.clock.now().getTime();
    const sealed = world.encryption.seal("old-secret", signingSecretPurpose(id));
    for (const [index, end] of [at + 60_000, at - 1].entries()) {
      await world.db.triggerSecret.create({
        data: {
          id: `01a1fcbf-154d-753b-9337-36211580000${index}`,
          triggerId: id,
          sealed,
          createdAt: new Date(at - 1_000),
          expiresAt: new Date(end),
        },
      });
    }
    const shown = await inspectTrigger(world, await createMember(world, tenant, "owner"), { triggerId: id });
    expect(shown.secrets.map(({ expiresAt }) => expiresAt)).toEqual([
      null,
      new Date(at + 60_000).toISOString(),
    ]);
    expect(JSON.stringify(shown)).not.toMatch(/first-secret|old-secret|v1\./);
  });

  it("offers an example input for its tool", async () => {
    const { id } = await createTrigger(world, tenant, { target: "tool" });
    const { exampleBody } = await inspectTrigger(world, await createMember(world, tenant, "member"), {
      triggerId: id,
    });
    expect(JSON.parse(exampleBody)).toEqual({ a: 1, b: 1 });
  });
});

describe("deliveries", () => {
  it("are listed newest first with their reasons, by outcome and by cursor", async () => {
    const { id, token } = await createTrigger(world, tenant, { secrets: ["s3cret"] });
    const reader = await createMember(world, tenant, "viewer");
    const body = '{"n":1}';
    const signature = createHmac("sha256", "s3cret").update(body).digest("hex");
    expect((await deliver(token, body)).status).toBe(401);
    expect((await deliver(token, body, { "X-Signature": signature })).status).toBe(200);
    expect((await deliver(token, body, { "X-Signature": "00" })).status).toBe(401);
    const all = await listDeliveries(world, reader, { triggerId: id, limit: 2 });
    expect(all.items.map(({ outcome }) => outcome)).toEqual(["rejected", "accepted"]);
    expect(all.items[0]).toMatchObject({ status: 401, code: "invalid_signature", bodyBytes: 7, runId: null });
    expect(all.items[0]?.reason).toMatch(/signature/i);
    const older = await listDeliveries(world, reader, {
      triggerId: id,
      limit: 2,
      cursor: all.nextCursor,
    });
    expect(older.items.map(({ outcome }) => outcome)).toEqual(["rejected"]);
    expect(older.nextCursor).toBeNull();
    const accepted = await listDeliveries(world, reader, { triggerId: id, limit: 2, outcome: "accepted" });
    expect(accepted.items).toHaveLength(1);
    const [first] = accepted.items;
    const detail = await inspectDelivery(world, reader, { deliveryId: first?.id ?? "" });
    expect(detail.body).toEqual({ kind: "json", text: body, cut: false });
    expect(JSON.parse(detail.headers)["x-signature"]).toBe("[redacted]");
  });

  it("are delivered again, marked as such", async () => {
    const { id, token } = await createTrigger(world, tenant);
    const member = await createMember(world, tenant, "member");
    await deliver(token, '{"hello":"again"}');
    const [first] = (await listDeliveries(world, member, { triggerId: id, limit: 5 })).items;
    const { runId } = await redeliver(world, member, { deliveryId: first?.id ?? "" });
    const [second] = (await listDeliveries(world, member, { triggerId: id, limit: 5 })).items;
    expect(second).toMatchObject({ outcome: "accepted", runId, redeliveryOf: first?.id });
  });

  it("preview a message template, or explain why it fails", async () => {
    const { id, token } = await createTrigger(world, tenant);
    const member = await createMember(world, tenant, "member");
    await deliver(token, '{"order":{"id":7}}');
    const [{ id: deliveryId } = { id: "" }] = (
      await listDeliveries(world, member, { triggerId: id, limit: 1 })
    ).items;
    const tried = (template: string) => previewMessage(world, member, { deliveryId, template });
    expect(await tried("Order {{ body.order.id }}")).toEqual({ message: "Order 7" });
    await expect(tried("{{ body.( }}")).rejects.toThrow("message template fails");
    await expect(tried("{{ body.nothing }}")).rejects.toThrow(
      "The message template matched nothing in the body.",
    );
  });
});

describe("a body", () => {
  async function show(body: string | Uint8Array, complete = false) {
    const { id, token } = await createTrigger(world, tenant);
    await deliver(token, body);
    const member = await createMember(world, tenant, "member");
    const [delivery] = (await listDeliveries(world, member, { triggerId: id, limit: 1 })).items;
    return (await inspectDelivery(world, member, { deliveryId: delivery?.id ?? "", complete })).body;
  }

  it("is JSON, text, bytes or nothing", async () => {
    expect((await show("[1]")).kind).toBe("json");
    expect(await show("not json")).toEqual({ kind: "text", text: "not json", cut: false });
    expect((await show("")).kind).toBe("empty");
    const text = `00000000  ff fe 41${" ".repeat(41)}..A`;
    expect(await show(Uint8Array.of(0xff, 0xfe, 0x41))).toEqual({ kind: "hex", text, cut: false });
  });

  it("is cut between characters until it is requested in full", async () => {
    const long = `x${"ä".repeat(40_000)}`;
    const start = await show(long);
    expect(start.cut).toBe(true);
    expect(start.text).toMatch(/^xä+$/);
    expect(await show(long, true)).toEqual({ kind: "text", text: long, cut: false });
  });
});

it.each([
  ["", { message: "Hello" }],
  ["Text about body.id alone", { message: "Hello" }],
  ["Order {{ body.order.id }} of {{ body.customer }}", { order: { id: "text" }, customer: "text" }],
  ["{{ body.a }} {{ body.a.b & $sum(body.items.price) }}", { a: { b: "text" }, items: { price: "text" } }],
  ["{{ body.constructor.name }}", { constructor: { name: "text" } }],
])("the example body for the template %j has what it names", (template, body) => {
  expect(exampleForTemplate(template)).toEqual(body);
});
