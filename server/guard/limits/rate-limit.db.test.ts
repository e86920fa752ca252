import { describe, expect, it } from "vitest";
import { handleRest } from "@/server/api/rest";
import { handleWebhook } from "@/server/api/webhook";
import { HOUR_MS } from "@/server/base/clock";
import { newId } from "@/server/base/ids";
import { createTenant, createTrigger, openWorld, type World } from "@/testing/world";
import { acquireRate, pruneRateSegments, releaseRate } from "./rate-limit";

const world = await openWorld();
const beside = await openWorld({ beside: world });

function mostInAMinute(moments: Date[]): number {
  const times = moments.map((moment) => moment.getTime()).sort((a, b) => a - b);
  return Math.max(...times.map((end) => times.filter((time) => time > end - 60_000 && time <= end).length));
}

async function hammer(calls: number, call: (process: World) => Promise<Response>) {
  const bursts: Record<string, number>[] = [];
  for (const pause of [0, 59_999, 1]) {
    world.clock.advance(pause);
    const answers = await Promise.all(Array.from({ length: calls }, (_, n) => call(n % 2 ? world : beside)));
    const counts: Record<string, number> = {};
    for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
    bursts.push(counts);
  }
  return bursts;
}

describe("two processes on one database", () => {
  it("accept 100 starts of a key in any 60 seconds, never 101", async () => {
    const tenant = await createTenant(world);
    const headers = { "X-API-Key": tenant.key, "Content-Type": "application/json" };
    const url = `http://stepwell.test/v1/tools/run/${tenant.toolId}`;
    const bursts = await hammer(130, (process) =>
      handleRest(process, new Request(url, { method: "POST", headers, body: '{"a":1,"b":2}' })),
    );
    expect(bursts).toEqual([{ 200: 100, 429: 30 }, { 429: 130 }, { 200: 100, 429: 30 }]);
    const runs = await world.db.run.findMany({ where: { organizationId: tenant.orgId } });
    expect(mostInAMinute(runs.map(({ createdAt }) => createdAt))).toBe(100);
  });

  it("accept 30 calls of a trigger in any 60 seconds, never 31", async () => {
    const tenant = await createTenant(world);
    const { id, token } = await createTrigger(world, tenant);
    const request = () =>
      new Request(`http://stepwell.test/webhooks/${token}`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: "{}",
      });
    const bursts = await hammer(45, (process) => handleWebhook(process, request()));
    expect(bursts).toEqual([{ 200: 30, 429: 15 }, { 429: 45 }, { 200: 30, 429: 15 }]);
    const runs = await world.db.run.findMany({ where: { triggerId: id } });
    expect(mostInAMinute(runs.map(({ createdAt }) => createdAt))).toBe(30);
  });
});

it("starts a new count of a trigger's calls when its window was changed", async () => {
  const tenant = await createTenant(world);
  const { id, token } = await createTrigger(world, tenant, { rateLimit: { requests: 2, seconds: 1 } });
  const call = async () => {
    const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" };
    const url = `http://stepwell.test/webhooks/${token}`;
    return (await handleWebhook(world, new Request(url, init))).status;
  };
  for (const expected of [200, 200, 429]) expect(await call()).toBe(expected);
  world.clock.advance(2 * HOUR_MS);
  for (const expected of [200, 200, 429]) expect(await call()).toBe(expected);
  await world.db.trigger.update({ where: { id }, data: { rateLimitSeconds: 3_600 } });
  for (const expected of [200, 200, 429]) expect(await call()).toBe(expected);
});

it("frees a key after its window if the database's clock was set back", async () => {
  const window = { key: `test:${newId()}`, limit: 3, seconds: 60 };
  const take = () => acquireRate(world.pool, window, { wanted: 3, clock: world.clock });
  world.clock.advance(2 * HOUR_MS);
  expect(await take()).toMatchObject({ granted: 3 });
  world.clock.advance(-2 * HOUR_MS);
  expect(await take()).toMatchObject({ granted: 0, resetSeconds: 60 });
  world.clock.advance(60_000);
  expect(await take()).toMatchObject({ granted: 3 });
});

it("grants several calls at once up to the limit, over both processes", async () => {
  const limit = { key: "blocks", limit: 100, seconds: 60 };
  const granted: number[] = [];
  for (let burst = 0; burst < 2; burst += 1) {
    const takes = await Promise.all(
      [world, beside, world, beside, world].map(({ pool, clock }) =>
        acquireRate(pool, limit, { wanted: 30, clock }),
      ),
    );
    granted.push(takes.reduce((sum, take) => sum + take.granted, 0));
    world.clock.advance(60_000);
  }
  expect(granted).toEqual([100, 100]);
});

it("resets the count of a released key", async () => {
  const limit = { key: "released", limit: 1, seconds: 60 };
  const take = async () => (await acquireRate(world.pool, limit, { clock: world.clock })).allowed;
  expect([await take(), await take()]).toEqual([true, false]);
  await releaseRate(world.pool, [limit.key]);
  expect([await take(), await take()]).toEqual([true, false]);
});

it("returns what remains and when it resets, and decides the same after old segments are removed", async () => {
  const limit = { key: "left", limit: 3, seconds: 60 };
  const take = () => acquireRate(world.pool, limit, { clock: world.clock });
  expect(await take()).toMatchObject({ allowed: true, remaining: 2, resetSeconds: 60 });
  world.clock.advance(20_500);
  expect(await take()).toMatchObject({ allowed: true, remaining: 1, resetSeconds: 40 });
  expect(await take()).toMatchObject({ allowed: true, remaining: 0 });
  expect(await take()).toMatchObject({ allowed: false, remaining: 0, resetSeconds: 40 });
  world.clock.advance(39_500);
  expect(await take()).toMatchObject({ allowed: true, remaining: 0, resetSeconds: 21 });
  world.clock.advance(1_000_000);
  expect(await take()).toMatchObject({ allowed: true, remaining: 2, resetSeconds: 60 });
  const countSegments = () => world.db.rateSegment.count({ where: { key: limit.key } });
  expect(await countSegments()).toBe(5);
  await pruneRateSegments(world);
  // The newest old segment stays: it shows how many calls are free again.
  expect(await countSegments()).toBe(2);
  expect(await take()).toMatchObject({ allowed: true, remaining: 1 });
  expect(await take()).toMatchObject({ allowed: true, remaining: 0 });
  expect(await take()).toMatchObject({ allowed: false });
  world.clock.advance(3_660_001);
  await pruneRateSegments(world);
  expect(await countSegments()).toBe(0);
  expect(await world.db.rateCounter.count({ where: { key: limit.key } })).toBe(0);
});
