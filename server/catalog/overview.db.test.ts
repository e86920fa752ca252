import { expect, it } from "vitest";
import { newId } from "@/server/base/ids";
import { listTriggers } from "@/server/catalog/overview";
import { recordDelivery } from "@/server/catalog/webhooks/deliveries";
import { createMember, insertRun } from "@/testing/runs";
import { createTenant, createTrigger, openWorld } from "@/testing/world";

const world = await openWorld();

it("shows each trigger's newest call, rejected ones included", async () => {
  const tenant = await createTenant(world);
  const actor = await createMember(world, tenant, "viewer");
  const [called, silent] = [await createTrigger(world, tenant), await createTrigger(world, tenant)];
  const reject = async (status: number) => {
    const id = newId();
    await recordDelivery(
      world,
      { orgId: tenant.orgId, triggerId: called.id },
      {
        delivery: { id, headers: "{}", body: Buffer.from("{}"), senderId: null, redeliveryOf: null },
        outcome: { outcome: "rejected", status, code: "invalid_request", reason: "Because." },
        receivedAt: world.clock.now(),
      },
    );
    return id;
  };
  await reject(400);
  const newest = await reject(401);
  const lines = new Map((await listTriggers(world, actor)).map((line) => [line.id, line.lastCall]));
  expect(lines.get(called.id)).toEqual({
    id: newest,
    outcome: "rejected",
    status: 401,
    receivedAt: world.clock.now().toISOString(),
  });
  expect(lines.get(silent.id)).toBeNull();
});

it("shows the last seven days of a trigger's own runs", async () => {
  const tenant = await createTenant(world);
  const actor = await createMember(world, tenant, "viewer");
  const trigger = await createTrigger(world, tenant);
  const silent = await createTrigger(world, tenant);
  await insertRun(world, tenant, { source: "webhook", triggerId: trigger.id, credits: "0.5" });
  await insertRun(world, tenant, { source: "webhook", triggerId: trigger.id, status: "Failed" });
  await insertRun(world, tenant, { source: "api" });
  const weeks = new Map((await listTriggers(world, actor)).map((line) => [line.id, line.week]));
  expect(weeks.get(trigger.id)).toMatchObject({ runs: 2, completed: 1, failed: 1, credits: "0.5000" });
  expect(weeks.get(silent.id)).toBeNull();
});
