import { createHmac } from "node:crypto";
import pg from "pg";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { handleRest } from "@/server/api/rest";
import { handleWebhook } from "@/server/api/webhook";
import { newId } from "@/server/base/ids";
import { removeDefinition } from "@/server/catalog/archive";
import { signingSecretPurpose } from "@/server/catalog/webhooks/trigger";
import { createTenant, createTrigger, openWorld, type Tenant, type World } from "@/testing/world";

let tenant: Tenant;
let trigger: { id: string; token: string };

const SECRET = "an old secret";
const NOTICED_WITHIN_MS = 10_000;

const world = await openWorld();
const beside = await openWorld({ beside: world });
for (const { notifications } of [world, beside]) notifications.open();
beforeEach(async () => {
  tenant = await createTenant(world, { plan: { startsPerMinute: 1_000 } });
  trigger = await createTrigger(world, tenant, { secrets: [SECRET] });
});

const listening = () =>
  vi.waitFor(
    () => expect([world, beside].every(({ notifications }) => notifications.fresh())).toBe(true),
    20_000,
  );
await listening();

const start = (process: World) =>
  handleRest(
    process,
    new Request(`http://stepwell.test/v1/agents/run/${tenant.agentId}`, {
      method: "POST",
      headers: { "X-API-Key": tenant.key, "Content-Type": "application/json" },
      body: '{"userMessage":"Hi"}',
    }),
  );
const call = (process: World, secret = SECRET) =>
  handleWebhook(
    process,
    new Request(`http://stepwell.test/webhooks/${trigger.token}`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "X-Signature": createHmac("sha256", secret).update("{}").digest("hex"),
      },
      body: "{}",
    }),
  );
type Ask = (process: World) => Promise<Response>;

function countReads(process: World): { reads: () => number; readsOfStart: () => Promise<number> } {
  const query = vi.spyOn(process.pool, "query");
  const reads = () =>
    query.mock.calls.filter(([statement]) => JSON.stringify(statement)?.includes('"name":"find-')).length;
  const readsOfStart = async () => {
    const before = reads();
    expect((await start(process)).status).toBe(200);
    return reads() - before;
  };
  return { reads, readsOfStart };
}

async function expectNoticed(ask: Ask, change: () => Promise<unknown>, status: number): Promise<void> {
  for (const process of [world, beside]) {
    expect((await ask(process)).status).toBe(200);
    expect((await ask(process)).status).toBe(200);
  }
  await change();
  for (const process of [world, beside]) {
    await expect
      .poll(async () => (await ask(process)).status, { timeout: NOTICED_WITHIN_MS, interval: 20 })
      .toBe(status);
  }
}

it("the process that saves a change uses it at once, before its notification arrives", async () => {
  const ask = async () => (await start(world)).status;
  expect([await ask(), await ask()]).toEqual([200, 200]);
  const emit = pg.Client.prototype.emit;
  const delayed = vi.spyOn(pg.Client.prototype, "emit").mockImplementation(function (
    this: pg.Client,
    name,
    ...rest
  ) {
    const isChange = name === "notification" && JSON.stringify(rest).includes("stepwell_configuration");
    return isChange || Reflect.apply(emit, this, [name, ...rest]);
  });
  onTestFinished(() => void delayed.mockRestore());
  const actor = { kind: "operator", orgId: tenant.orgId, name: "operator" } as const;
  const slug = (await world.db.agent.findUniqueOrThrow({ where: { id: tenant.agentId } })).slug;
  await removeDefinition(world, actor, { kind: "agent", slug });
  expect(await ask()).toBe(404);
});

describe("both processes notice soon", () => {
  const organization = () => ({ where: { organizationId: tenant.orgId } });

  it.each<[string, Ask, () => Promise<unknown>, number]>([
    [
      "a revoked key",
      start,
      () => world.db.apiKey.updateMany({ ...organization(), data: { revokedAt: world.clock.now() } }),
      401,
    ],
    [
      "a key that lost a scope",
      start,
      () => world.db.apiKey.updateMany({ ...organization(), data: { scopes: ["runs:read"] } }),
      403,
    ],
    [
      "a plan without API access",
      start,
      () => world.db.plan.updateMany({ ...organization(), data: { apiAccess: false } }),
      403,
    ],
    [
      "a suspended organization",
      start,
      () =>
        world.db.organization.update({
          where: { id: tenant.orgId },
          data: { suspendedAt: world.clock.now() },
        }),
      403,
    ],
    [
      "an agent made inactive",
      start,
      () => world.db.agent.updateMany({ ...organization(), data: { status: "inactive" } }),
      400,
    ],
    [
      "a deleted agent",
      start,
      () => world.db.agent.updateMany({ ...organization(), data: { deletedAt: world.clock.now() } }),
      404,
    ],
    [
      "a deleted trigger",
      call,
      () => world.db.trigger.updateMany({ ...organization(), data: { deletedAt: world.clock.now() } }),
      404,
    ],
    [
      "a disabled trigger",
      call,
      () => world.db.trigger.updateMany({ ...organization(), data: { disabledAt: world.clock.now() } }),
      400,
    ],
    [
      "another secret of a trigger",
      call,
      () => world.db.triggerSecret.deleteMany({ where: { triggerId: trigger.id } }).then(addSecret),
      401,
    ],
    [
      "a trigger whose agent is inactive",
      call,
      () => world.db.agent.updateMany({ ...organization(), data: { status: "inactive" } }),
      400,
    ],
  ])("%s", async (_what, ask, change, status) => {
    await expectNoticed(ask, change, status);
  });

  async function addSecret(): Promise<void> {
    const sealed = world.encryption.seal("a new secret", signingSecretPurpose(trigger.id));
    await world.db.triggerSecret.create({
      data: { id: newId(), triggerId: trigger.id, sealed, createdAt: world.clock.now() },
    });
  }

  it("an edited agent: the next start has the new version", async () => {
    for (const process of [world, beside]) expect((await start(process)).status).toBe(200);
    const version = {
      number: 2,
      definition: JSON.stringify({ model: "gpt-5-mini", systemPrompt: "New." }),
      createdBy: "test",
      createdAt: world.clock.now(),
    };
    await world.db.agentVersion.create({ data: { agentId: tenant.agentId, ...version } });
    await world.db.agent.update({ where: { id: tenant.agentId }, data: { version: 2 } });
    for (const process of [world, beside]) {
      const versionOf = async () => {
        const { id } = await (await start(process)).json();
        return (await world.db.run.findUniqueOrThrow({ where: { id } })).targetVersion;
      };
      await expect.poll(versionOf, { timeout: NOTICED_WITHIN_MS, interval: 20 }).toBe(2);
    }
  });

  it("the end of an old secret's overlap, without a change", async () => {
    const expiresAt = new Date(world.clock.now().getTime() + 60_000);
    await world.db.triggerSecret.updateMany({ where: { triggerId: trigger.id }, data: { expiresAt } });
    await addSecret();
    for (const process of [world, beside]) expect((await call(process)).status).toBe(200);
    world.clock.advance(60_000);
    for (const process of [world, beside]) {
      expect((await call(process)).status).toBe(401);
      expect((await call(process, "a new secret")).status).toBe(200);
    }
  });
});

describe("a cache", () => {
  it("saves statements, and drops only the changed organization's values", async () => {
    const { readsOfStart } = countReads(world);
    // Once the notifications of the tenant's creation have arrived, everything is cached.
    await expect.poll(readsOfStart).toBe(0);
    const stranger = await createTenant(world);
    const changed: string[] = [];
    const end = world.notifications.listen("configuration", (orgId) => changed.push(orgId));
    await world.db.plan.updateMany({ where: { organizationId: stranger.orgId }, data: { concurrency: 3 } });
    await expect.poll(() => changed).toContain(stranger.orgId);
    end();
    expect(await readsOfStart()).toBe(0);
  });

  it("is bypassed while notifications are interrupted, and used again afterwards", async () => {
    expect((await start(beside)).status).toBe(200);
    const { reads, readsOfStart } = countReads(beside);
    await cutNotifications();
    await expect.poll(() => beside.notifications.connected(), { interval: 5 }).toBe(false);
    const before = reads();
    expect((await start(beside)).status).toBe(200);
    expect(reads()).toBeGreaterThan(before);
    // Changed while no process listens: the next call sees it nevertheless.
    await world.db.apiKey.updateMany({
      where: { organizationId: tenant.orgId },
      data: { revokedAt: world.clock.now() },
    });
    expect((await start(beside)).status).toBe(401);
    await world.db.apiKey.updateMany({ where: { organizationId: tenant.orgId }, data: { revokedAt: null } });

    await listening();
    await expect.poll(async () => (await start(beside)).status).toBe(200);
    await expect.poll(readsOfStart).toBe(0);
  });
});

async function cutNotifications(): Promise<void> {
  await world.pool.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'stepwell notifications' AND datname = current_database()",
  );
}
