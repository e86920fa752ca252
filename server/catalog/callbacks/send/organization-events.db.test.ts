import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { Decimal } from "@/server/base/amount";
import { DAY_MS, HOUR_MS } from "@/server/base/clock";
import { setCallbackStatus, updateCallback } from "@/server/catalog/callbacks/change-callback";
import { grantCredits } from "@/server/credits/ledger";
import { createGuardedEgress } from "@/server/guard/egress/guarded-fetch";
import { executeJobNow } from "@/server/operate/maintenance";
import { cancelRun } from "@/server/runs/cancel";
import { attemptTicks } from "@/server/runs/schedules/attempt";
import { claimDueSchedules } from "@/server/runs/schedules/claim-due";
import { runDueSchedules } from "@/server/runs/schedules/timer";
import { startRun } from "@/server/runs/start";
import { insertCallback } from "@/testing/callbacks";
import { startCallbackReceiver } from "@/testing/servers/callback-receiver";
import { createSchedule, createTenant, openWorld, type Tenant } from "@/testing/world";
import { CallbackDispatcher } from "./dispatcher";
import { raiseLowCredits } from "./raise-low-credits";

/** Events that are about the organization, not about a run. */

const receiver = await startCallbackReceiver();
const egress = createGuardedEgress({ allow: [receiver.host] });
afterAll(async () => {
  await egress.close();
  await receiver.close();
});
const world = await openWorld({ env: { EGRESS_ALLOW: receiver.host }, fetch: egress.fetch });
const { clock, db, pool } = world;
const { url } = receiver;
const dispatcher = new CallbackDispatcher(world);

let tenant: Tenant;
beforeEach(async () => {
  await db.callbackEvent.deleteMany();
  await db.callbackEndpoint.updateMany({ data: { deletedAt: clock.now() } });
  await db.schedule.updateMany({ data: { nextAt: null } });
  tenant = await createTenant(world);
  receiver.received.length = 0;
  receiver.answer = () => ({});
});

const operator = () => ({ kind: "operator", orgId: tenant.orgId, name: "test" }) as const;

async function received(): Promise<unknown[]> {
  receiver.received.length = 0;
  await executeJobNow(world, "watch_credits");
  await dispatcher.turn();
  await dispatcher.settle();
  return receiver.received.map(({ body }) => JSON.parse(body));
}

async function balance(): Promise<Decimal> {
  const { balance } = await db.organization.findUniqueOrThrow({ where: { id: tenant.orgId } });
  return balance;
}

const grant = (amount: number) =>
  grantCredits(pool, {
    orgId: tenant.orgId,
    amount: new Decimal(amount),
    note: "test",
    actor: "test",
    clock,
  });

describe("credits.low", () => {
  it("is sent once, until there are enough credits again", async () => {
    const bound = (await balance()).add(10);
    await insertCallback(world, tenant, { url, events: ["credits.low"], creditsBelow: bound.toFixed(4) });
    const event = {
      type: "credits.low",
      timestamp: clock.now().toISOString(),
      data: { available: bound.sub(10).toFixed(4), held: "0.0000", creditsBelow: bound.toFixed(4) },
    };
    expect(await received()).toEqual([event]);
    await grant(9);
    expect(await received()).toEqual([]);
    await grant(1);
    expect(await received()).toEqual([]);
    await db.organization.update({ where: { id: tenant.orgId }, data: { balance: bound.sub(10) } });
    expect(await received()).toEqual([event]);
  });

  it("counts what open runs hold as left", async () => {
    const before = await balance();
    await insertCallback(world, tenant, { url, events: ["credits.low"], creditsBelow: before.toFixed(4) });
    const request = { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" } as const;
    const { runId } = await startRun(world, operator(), request);
    expect((await balance()).lt(before)).toBe(true);
    expect(await received()).toEqual([]);
    await cancelRun(world, tenant.orgId, { runId, by: "test" });
  });

  it("delays no other callback while it waits", async () => {
    const { id } = await insertCallback(world, tenant, {
      url,
      events: ["credits.low"],
      creditsBelow: "999999",
    });
    const other = await createTenant(world);
    await insertCallback(world, other, { url, events: ["run.cancelled"] });
    const request = { kind: "agent", targetId: other.agentId, userMessage: "Hi" } as const;
    const { runId } = await startRun(world, { ...operator(), orgId: other.orgId }, request);
    await cancelRun(world, other.orgId, { runId, by: "test" });
    const client = await pool.connect();
    try {
      await client.query("BEGIN");
      await client.query("SELECT FROM callback_endpoints WHERE id = $1 FOR UPDATE", [id]);
      await dispatcher.turn();
      await dispatcher.settle();
      expect(receiver.received.map(({ body }) => JSON.parse(body))).toMatchObject([
        { type: "run.cancelled" },
      ]);
    } finally {
      await client.query("ROLLBACK");
      client.release();
    }
  });

  it("is recorded once, whichever processes look", async () => {
    await insertCallback(world, tenant, { url, events: ["credits.low"], creditsBelow: "999999" });
    const looks = await Promise.all(Array.from({ length: 8 }, () => raiseLowCredits(pool, [clock.now()])));
    expect(looks.toSorted()).toEqual([0, 0, 0, 0, 0, 0, 0, 1]);
  });

  it("is sent to the callbacks whose bound was crossed, and again after a change of the bound", async () => {
    const { id } = await insertCallback(world, tenant, { url, events: ["credits.low"], creditsBelow: "0.5" });
    const high = { slug: "high", events: ["credits.low" as const] };
    await insertCallback(world, tenant, { ...high, url: `${url}/high`, creditsBelow: 999_999 });
    await insertCallback(world, tenant, { slug: "ends", url: `${url}/ends`, events: ["run.failed"] });
    expect(await received()).toHaveLength(1);
    expect(receiver.received.map(({ path }) => path)).toEqual(["/hooks/high"]);
    const changed = { slug: "erp", url, events: ["credits.low"], creditsBelow: 999_998, replaces: {} };
    await updateCallback.run(world, operator(), { ...changed, status: "active" });
    expect(await received()).toMatchObject([{ data: { creditsBelow: "999998.0000" } }]);
    await setCallbackStatus.run(world, operator(), { id, status: "inactive" });
    await updateCallback.run(world, operator(), { ...changed, creditsBelow: 999_997, status: "inactive" });
    expect(await received()).toEqual([]);
  });

  it("needs a number of credits, which no other event takes", async () => {
    const without = insertCallback(world, tenant, { url, events: ["credits.low"] });
    await expect(without).rejects.toMatchObject({ issues: [{ path: "/creditsBelow" }] });
    const needless = insertCallback(world, tenant, { url, events: ["run.failed"], creditsBelow: 5 });
    await expect(needless).rejects.toMatchObject({ issues: [{ path: "/creditsBelow" }] });
  });
});

describe("schedule.missed", () => {
  const missedAfter = async (ms: number) => {
    clock.advance(ms);
    await runDueSchedules(world);
    return db.callbackEvent.findMany({ where: { organizationId: tenant.orgId } });
  };

  it("is sent for the times that an outage skipped, together", async () => {
    await insertCallback(world, tenant, { url, events: ["schedule.missed"], agents: ["helper"] });
    const { id } = await createSchedule(world, tenant);
    await missedAfter(DAY_MS);
    const ticks = await db.scheduleTick.findMany({
      where: { scheduleId: id, outcome: "missed" },
      orderBy: { dueAt: "asc" },
    });
    expect(ticks.length).toBeGreaterThan(20);
    const bodies = await received();
    expect(bodies).toEqual([
      {
        type: "schedule.missed",
        timestamp: clock.now().toISOString(),
        data: {
          scheduleId: id,
          slug: expect.any(String),
          name: "Hourly",
          code: "too_late",
          reason: "Nothing was started within the catch-up window of 1 h.",
          ticks: ticks.length,
          firstDueAt: ticks[0]?.dueAt.toISOString(),
          lastDueAt: ticks.at(-1)?.dueAt.toISOString(),
        },
      },
    ]);
  });

  it("is sent for a planned time whose start came too late", async () => {
    await insertCallback(world, tenant, { url, events: ["schedule.missed"] });
    await createSchedule(world, tenant);
    clock.advance(HOUR_MS);
    await claimDueSchedules(world);
    clock.advance(3 * HOUR_MS);
    await attemptTicks(world);
    expect(await received()).toMatchObject([{ data: { code: "too_late", ticks: 1 } }]);
  });

  it("is not recorded for organizations without callbacks", async () => {
    await createSchedule(world, tenant);
    expect(await missedAfter(DAY_MS)).toEqual([]);
  });

  it.each([
    ["other events", { events: ["run.failed" as const] }],
    ["other tools", { tools: ["adder"] }],
    ["metadata", { metadata: { shop: "no" } }],
  ])("is not sent to callbacks for %s", async (_, filter) => {
    await insertCallback(world, tenant, { url, events: ["schedule.missed"], ...filter });
    await createSchedule(world, tenant);
    expect(await missedAfter(DAY_MS)).toHaveLength(1);
    expect(await received()).toEqual([]);
  });
});
