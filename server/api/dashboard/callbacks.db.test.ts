import { afterAll, beforeEach, expect, it } from "vitest";
import { createDashboardCaller } from "@/server/api/dashboard/router";
import { removeDefinition } from "@/server/catalog/archive";
import { CallbackDispatcher } from "@/server/catalog/callbacks/send/dispatcher";
import { saveTrigger } from "@/server/catalog/save-trigger";
import { createGuardedEgress } from "@/server/guard/egress/guarded-fetch";
import { startRun } from "@/server/runs/start";
import { executeRun } from "@/testing/execute";
import { createMember } from "@/testing/runs";
import { startCallbackReceiver } from "@/testing/servers/callback-receiver";
import { createTenant, openWorld, type Tenant } from "@/testing/world";

const receiver = await startCallbackReceiver();
const egress = createGuardedEgress({ allow: [receiver.host] });
afterAll(async () => {
  await egress.close();
  await receiver.close();
});
const world = await openWorld({ env: { EGRESS_ALLOW: receiver.host }, fetch: egress.fetch });
world.clock.set(new Date());
const dispatcher = new CallbackDispatcher(world);

let tenant: Tenant;
let api: ReturnType<typeof createDashboardCaller>["callbacks"];
beforeEach(async () => {
  await world.db.callbackEvent.deleteMany();
  tenant = await createTenant(world);
  const actor = await createMember(world, tenant, "admin");
  api = createDashboardCaller({ services: world, actor, requestId: "t" }).callbacks;
  receiver.received.length = 0;
  receiver.answer = () => ({});
});

const ERP = {
  slug: "erp",
  name: "ERP",
  url: receiver.url,
  events: ["run.completed" as const],
  status: "active" as const,
  agents: [],
  tools: [],
  triggers: [],
  metadata: {},
  creditsBelow: null,
};

async function runAgent(): Promise<string> {
  const operator = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const request = { kind: "agent", targetId: tenant.agentId, userMessage: "Order 4713" } as const;
  const { runId } = await startRun(world, operator, request);
  await executeRun(world, runId);
  return runId;
}

async function send(): Promise<void> {
  await dispatcher.turn();
  await dispatcher.settle();
}

it("shows a callback with its filter, its secret's end and its deliveries", async () => {
  const { id, secret } = await api.create({ ...ERP, agents: ["helper"], metadata: { shop: "no" } });
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  await api.update({ ...ERP, agents: ["helper"], replaces: {} });
  const runId = await runAgent();
  await send();
  const callback = {
    id,
    slug: "erp",
    name: "ERP",
    url: receiver.url,
    agents: [{ id: tenant.agentId, slug: "helper", name: "Helper", archived: false }],
    tools: [],
    triggers: [],
    metadata: {},
    disabledAt: null,
    failingSince: null,
    hours: [{ hour: 23, all: 1, delivered: 1 }],
    p95Ms: expect.any(Number),
    waiting: 0,
  };
  expect(await api.list()).toMatchObject({ callbacks: [callback] });
  const hint = `whsec_…${secret?.slice(-5, -1)}`;
  expect(await api.inspect({ callbackId: id })).toMatchObject({
    ...callback,
    secrets: [{ hint, until: null }],
  });
  const { items } = await api.deliveries({ callbackId: id });
  expect(items).toMatchObject([
    { type: "run.completed", runId, targetName: "Helper", input: "Order 4713", status: 200, attempts: 1 },
  ]);
  const delivery = await api.delivery({ deliveryId: items[0]?.id ?? "" });
  expect(delivery.webhookId).toBe(receiver.received[0]?.headers["webhook-id"]);
  expect(delivery.body).toBe(receiver.received[0]?.body);
  expect(delivery.tries).toMatchObject([{ number: 1, status: 200, error: null, answer: "ok" }]);
});

it.each([
  ["http://shop.example/hooks", /must begin with https/],
  ["https://ada:secret@shop.example/hooks", /user name or password/],
  ["ftp://shop.example/hooks", /must begin with https/],
  ["shop", /must be one address/],
])("rejects the address %s", async (url, message) => {
  await expect(api.create({ ...ERP, url })).rejects.toMatchObject({
    cause: { issues: [{ path: "/url", message: expect.stringMatching(message) }] },
  });
});

it("rejects unknown names, taken slugs and more than 20 callbacks", async () => {
  const wrong = { ...ERP, agents: ["nobody"], triggers: ["nothing"] };
  await expect(api.create(wrong)).rejects.toMatchObject({
    cause: { issues: [{ path: "/agents/0" }, { path: "/triggers/0" }] },
  });
  for (let n = 0; n < 20; n += 1) await api.create({ ...ERP, slug: `erp-${n}` });
  await expect(api.create(ERP)).rejects.toThrow("An organization has at most 20 callbacks.");
  await expect(api.create({ ...ERP, slug: "erp-1" })).rejects.toMatchObject({
    cause: { issues: [{ path: "/slug" }] },
  });
});

it("keeps archived items of its filter, so that it does not get all runs", async () => {
  const operator = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  await saveTrigger(world, operator, { definition: { slug: "shop", tool: "adder" } });
  const filter = { agents: ["helper"], triggers: ["shop"] };
  const { id } = await api.create({ ...ERP, ...filter });
  await world.db.agent.update({ where: { id: tenant.agentId }, data: { deletedAt: world.clock.now() } });
  await removeDefinition(world, operator, { kind: "trigger", slug: "shop" });
  await api.update({ ...ERP, ...filter, name: "Shop", replaces: {} });
  expect(await api.inspect({ callbackId: id })).toMatchObject({
    name: "Shop",
    agents: [{ slug: "helper", archived: true }],
    triggers: [{ slug: "shop", archived: true }],
  });
  await expect(api.create({ ...ERP, ...filter, slug: "other" })).rejects.toMatchObject({
    cause: { issues: [{ path: "/agents/0" }, { path: "/triggers/0" }] },
  });
});

it("tests stop no other call of a page while they wait, and there are 20 a minute", async () => {
  const { id } = await api.create(ERP);
  let answer = () => {};
  const answered = new Promise<object>((resolve) => {
    answer = () => resolve({});
  });
  receiver.answer = () => answered;
  const tests = Array.from({ length: 21 }, () => api.sendTest({ callbackId: id }).catch(({ code }) => code));
  // More than the twelve queued calls that a process executes at a time.
  await expect.poll(() => receiver.received.length).toBe(20);
  expect(await api.list()).toMatchObject({ callbacks: [{ id }] });
  answer();
  const results = await Promise.all(tests);
  expect(results.filter((result) => result === "TOO_MANY_REQUESTS")).toHaveLength(1);
});

it("stays disabled when a form that is older saves it", async () => {
  const { id } = await api.create(ERP);
  const { facts } = await api.inspect({ callbackId: id });
  await api.setStatus({ id, status: "inactive" });
  await api.update({ ...ERP, name: "Shop", replaces: facts });
  const disabled = await api.inspect({ callbackId: id });
  expect(disabled).toMatchObject({ name: "Shop", disabledAt: expect.any(String) });
  await api.update({ ...ERP, name: "Shop", replaces: disabled.facts });
  expect(await api.inspect({ callbackId: id })).toMatchObject({ disabledAt: null });
});

it("is not overwritten by a form that is older", async () => {
  const { id } = await api.create({ ...ERP, metadata: { "a=b": " c" }, agents: ["helper"] });
  const { facts } = await api.inspect({ callbackId: id });
  await api.update({ ...ERP, agents: ["helper"], replaces: facts });
  const older = api.update({ ...ERP, name: "Shop", replaces: facts });
  await expect(older).rejects.toThrow(
    "Somebody changed this callback since you opened it; nothing was overwritten. Copy what you want to keep, then open the form again.",
  );
  expect(await api.inspect({ callbackId: id })).toMatchObject({ name: "ERP", metadata: {} });
});

it("redelivers one event with its id, or all that failed since a time", async () => {
  const { id } = await api.create(ERP);
  receiver.answer = () => ({ status: 500 });
  await runAgent();
  await send();
  const since = new Date(world.clock.now().getTime() + 1).toISOString();
  world.clock.advance(1_000);
  await runAgent();
  await send();
  const webhookIds = receiver.received.map(({ headers }) => headers["webhook-id"]);
  receiver.answer = () => ({});
  expect(await api.redeliverFailed({ callbackId: id, since })).toEqual({ deliveries: 1 });
  await send();
  expect(receiver.received.at(-1)?.headers["webhook-id"]).toBe(webhookIds[1]);
  const left = await api.deliveries({ callbackId: id, state: "undelivered" });
  expect(left.items).toMatchObject([{ attempts: 1 }]);
  await api.redeliver({ deliveryId: left.items[0]?.id ?? "" });
  await send();
  expect(receiver.received.at(-1)?.headers["webhook-id"]).toBe(webhookIds[0]);
  expect((await api.deliveries({ callbackId: id, state: "undelivered" })).items).toEqual([]);
  expect(await api.redeliverFailed({ callbackId: null, since: "2026-01-01T00:00:00Z" })).toEqual({
    deliveries: 0,
  });
});

it("redelivers any number in batches, and records their sum", async () => {
  const { id } = await api.create(ERP);
  await world.pool.query(
    `WITH events AS (
       INSERT INTO callback_events (id, organization_id, type, created_at, expanded_at)
       SELECT gen_random_uuid(), $1, 'run.completed', $3, $3 FROM generate_series(1, 2001) RETURNING id
     )
     INSERT INTO callback_deliveries (id, organization_id, event_id, endpoint_id, created_at, attempts)
     SELECT gen_random_uuid(), $1, id, $2, $3, 1 FROM events`,
    [tenant.orgId, id, world.clock.now()],
  );
  await world.pool.query(`
    CREATE FUNCTION limit_updates() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN IF (SELECT count(*) FROM changed) > 2000 THEN RAISE EXCEPTION 'too many'; END IF; RETURN NULL; END $$;
    CREATE TRIGGER limit_updates AFTER UPDATE ON callback_deliveries REFERENCING NEW TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION limit_updates()`);
  const since = world.clock.now().toISOString();
  expect(await api.redeliverFailed({ callbackId: id, since })).toEqual({ deliveries: 2_001 });
  await world.pool.query("DROP TRIGGER limit_updates ON callback_deliveries");
  const due = await world.db.callbackDelivery.count({ where: { endpointId: id, nextAt: world.clock.now() } });
  expect(due).toBe(2_001);
  const { changes } = await world.db.auditEntry.findFirstOrThrow({
    where: { subjectId: id, action: "callback.redelivered" },
  });
  expect(JSON.parse(changes)).toEqual({ since, deliveries: 2_001 });
  await world.db.callbackEvent.deleteMany({ where: { organizationId: tenant.orgId } });
});

it("records who redelivers, and what", async () => {
  const { id } = await api.create(ERP);
  receiver.answer = () => ({ status: 500 });
  await runAgent();
  await send();
  const [delivery] = (await api.deliveries({ callbackId: id })).items;
  const since = "2026-01-01T00:00:00.000Z";
  await api.redeliver({ deliveryId: delivery?.id ?? "" });
  await api.redeliverFailed({ callbackId: id, since });
  await api.redeliverFailed({ callbackId: null, since });
  await api.redeliverFailed({ callbackId: id, since: "2100-01-01T00:00:00Z" });
  const entries = await world.db.auditEntry.findMany({
    where: { organizationId: tenant.orgId, action: "callback.redelivered" },
    orderBy: { id: "asc" },
  });
  expect(
    entries.map(({ subjectId, subjectName, changes }) => [subjectId, subjectName, JSON.parse(changes)]),
  ).toEqual([
    [id, "ERP", { deliveryId: delivery?.id }],
    [id, "ERP", { since, deliveries: 1 }],
    [null, "All callbacks", { since, deliveries: 1 }],
  ]);
  expect(entries[0]?.actor).toMatch(/^user:/);
  await expect(api.redeliver({ deliveryId: id })).rejects.toThrow("Delivery not found");
});

it("attempts an event at once that is redelivered during a failing attempt", async () => {
  const { id } = await api.create(ERP);
  await runAgent();
  receiver.answer = () => ({ status: 500 });
  await send();
  // The next pause would be 20.5 hours.
  const { id: deliveryId } = await world.db.callbackDelivery.findFirstOrThrow({ where: { endpointId: id } });
  await world.db.callbackDelivery.update({
    where: { id: deliveryId },
    data: { failures: 9, nextAt: world.clock.now() },
  });
  receiver.answer = async () => {
    await api.redeliver({ deliveryId });
    return { status: 500 };
  };
  await send();
  expect(receiver.received).toHaveLength(2);
  const redelivered = await world.db.callbackDelivery.findUniqueOrThrow({ where: { id: deliveryId } });
  expect(redelivered).toMatchObject({ failures: 0, nextAt: world.clock.now(), leasedUntil: null });
  receiver.answer = () => ({});
  await send();
  expect(await world.db.callbackDelivery.findUniqueOrThrow({ where: { id: deliveryId } })).toMatchObject({
    deliveredAt: expect.any(Date),
    attempts: 3,
  });
});

it("sends a test once, also to a callback that is off, and says how it went", async () => {
  const { id } = await api.create({ ...ERP, status: "inactive" });
  receiver.answer = () => ({ status: 500, body: "no" });
  expect(await api.sendTest({ callbackId: id })).toMatchObject({ status: 500, answer: "no" });
  receiver.answer = () => ({});
  world.clock.advance(60_000);
  await send();
  expect(receiver.received).toHaveLength(1);
  expect(await api.sendTest({ callbackId: id })).toMatchObject({ status: 200, error: null });
  expect(JSON.parse(receiver.received[1]?.body ?? "")).toMatchObject({ type: "test" });
  expect((await api.inspect({ callbackId: id })).disabledAt).not.toBeNull();
});

it("sends nothing more to a callback that is removed, and its slug is free", async () => {
  const { id } = await api.create(ERP);
  await runAgent();
  await api.remove({ id });
  await send();
  expect(receiver.received).toEqual([]);
  expect((await api.list()).callbacks).toEqual([]);
  await api.create(ERP);
});
