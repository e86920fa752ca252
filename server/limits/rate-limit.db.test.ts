import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { handleRest } from "@/server/api/rest";
import { handleWebhook } from "@/server/api/webhook";
import { createTenant, createTrigger, createWorld, type World } from "@/server/testing/world";
import { takeFromWindow } from "./rate-window";

/** Limits over two processes on one database, each with its own connections. */

let world: World;
let beside: World;

beforeAll(async () => {
  world = await createWorld();
  beside = await createWorld({ beside: world });
});
afterAll(async () => {
  await beside.close();
  await world.close();
});

/** The most moments that lie in any window of 60 s, its older edge excluded. */
function mostInAMinute(moments: Date[]): number {
  const times = moments.map((moment) => moment.getTime()).sort((a, b) => a - b);
  return Math.max(...times.map((end) => times.filter((time) => time > end - 60_000 && time <= end).length));
}

/** Calls both processes at once, in three bursts over the edges of a minute; the statuses of each burst, counted. */
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
  it("never accept a 101st start of a key in any 60 seconds, and accept the 100th", async () => {
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

  it("never accept a 31st call of a trigger in any 60 seconds, and accept the 30th", async () => {
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

it("counts what an overtaken call must still see", async () => {
  const start = world.clock.now().getTime();
  const take = async (afterMs: number) => {
    world.clock.set(new Date(start + afterMs));
    return (await takeFromWindow(world.pool, { key: "overtaken", limit: 2, seconds: 60 }, world.clock))
      .allowed;
  };
  expect([await take(0), await take(10)]).toEqual([true, true]);
  // One call comes when both are out of the window; another, made a moment before, comes to the row after it.
  expect(await take(60_020)).toBe(true);
  expect(await take(59_990)).toBe(false);
  expect(await take(60_030)).toBe(true);
});

it("tells what is left and when, and forgets what counts no more", async () => {
  const limit = { key: "told", limit: 3, seconds: 60 };
  const take = () => takeFromWindow(world.pool, limit, world.clock);
  expect(await take()).toMatchObject({ allowed: true, remaining: 2, resetSeconds: 60 });
  world.clock.advance(20_500);
  expect(await take()).toMatchObject({ allowed: true, remaining: 1, resetSeconds: 40 });
  expect(await take()).toMatchObject({ allowed: true, remaining: 0 });
  expect(await take()).toMatchObject({ allowed: false, remaining: 0, resetSeconds: 40 });
  world.clock.advance(39_500);
  expect(await take()).toMatchObject({ allowed: true, remaining: 0, resetSeconds: 21 });
  world.clock.advance(1_000_000);
  expect(await take()).toMatchObject({ allowed: true, remaining: 2, resetSeconds: 60 });
  const row = await world.db.rateWindow.findUniqueOrThrow({ where: { key: limit.key } });
  expect(row.hits).toHaveLength(1);
});
