import { expect, test } from "vitest";
import { newId } from "@/server/base/ids";
import { createTrigger, setTriggerStatus } from "@/server/catalog/change-trigger";
import { createMember } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";
import { sendTestCall } from "./test-call";

const world = await openWorld();
const tenant = await createTenant(world);
const member = await createMember(world, tenant, "member");

const create = (part: { signature?: "hex" | "standard-webhooks"; generateSecret?: boolean } = {}) =>
  createTrigger(world, member, { slug: newId(), agent: "helper", generateSecret: true, ...part });

test.each(["hex", "standard-webhooks"] as const)(
  "a generated %s secret signs a test call, which is recorded as a delivery",
  async (signature) => {
    const { id, secret } = await create({ signature });
    expect(secret).toMatch(signature === "hex" ? /^[0-9a-f]{64}$/ : /^whsec_/);
    const sent = await sendTestCall(world, member, { triggerId: id, body: '{"message":"Hi"}' });
    expect(sent).toMatchObject({ status: 200, problem: null });
    const [delivery] = await world.db.delivery.findMany({ where: { triggerId: id } });
    expect(delivery).toMatchObject({ outcome: "accepted", runId: sent.runId });
  },
);

test("a trigger without a secret is called without a signature", async () => {
  const { id, secret } = await create({ generateSecret: false });
  expect(secret).toBeNull();
  expect(await sendTestCall(world, member, { triggerId: id, body: "{}" })).toMatchObject({ status: 200 });
});

test("a rejection is shown as the sender would get it", async () => {
  const { id } = await create();
  const unreadable = await sendTestCall(world, member, { triggerId: id, body: "not JSON {" });
  expect(unreadable).toMatchObject({ status: 400, problem: { code: "invalid_request" } });
  await setTriggerStatus(world, member, { id, status: "inactive" });
  const sent = await sendTestCall(world, member, { triggerId: id, body: "{}" });
  expect(sent).toMatchObject({ runId: null, problem: { code: "trigger_misconfigured" } });
  await setTriggerStatus(world, member, { id, status: "active" });
  expect((await sendTestCall(world, member, { triggerId: id, body: "{}" })).status).toBe(200);
});

test("a change of status is audited once, and a taken slug is rejected", async () => {
  const { id, slug } = await create();
  await setTriggerStatus(world, member, { id, status: "inactive" });
  await setTriggerStatus(world, member, { id, status: "inactive" });
  const changes = await world.db.auditEntry.findMany({ where: { subjectId: id, action: "trigger.updated" } });
  expect(changes).toHaveLength(1);
  await expect(
    createTrigger(world, member, { slug, agent: "helper", generateSecret: false }),
  ).rejects.toMatchObject({ issues: [{ path: "/slug" }] });
});
