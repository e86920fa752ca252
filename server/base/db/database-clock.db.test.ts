import { afterEach, describe, expect, it, vi } from "vitest";
import { HOUR_MS } from "@/server/base/clock";
import { openWorld } from "@/testing/world";
import { ClockOffset } from "./clock-offset";
import { createDatabaseClock } from "./database-clock";
import type { Queryable } from "./statement";

const { pool } = await openWorld();

function setMachineClock(byMs: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + byMs });
}
afterEach(() => vi.useRealTimers());

const realTime = Date.now() - performance.now();
const hoursOff = (now: Date) => Math.round((now.getTime() - realTime - performance.now()) / HOUR_MS) || 0;

const databaseAhead = (ms: number): Queryable => ({
  query: async () => ({ rows: [{ shown: realTime + performance.now() + ms }], rowCount: 1 }),
});

it("follows the database's clock, not the machine's", async () => {
  setMachineClock(2 * HOUR_MS);
  const clock = createDatabaseClock();
  expect(hoursOff(clock.now())).toBe(2);
  await clock.sync(pool);
  expect(hoursOff(clock.now())).toBe(0);
  setMachineClock(-4 * HOUR_MS);
  expect(hoursOff(clock.now())).toBe(0);
});

it("follows a database whose clock is set", async () => {
  const clock = createDatabaseClock();
  await clock.sync(databaseAhead(2 * HOUR_MS));
  expect(hoursOff(clock.now())).toBe(2);
  await clock.sync(databaseAhead(0));
  expect(hoursOff(clock.now())).toBe(0);
});

describe("an offset", () => {
  it.each([
    ["stays, if the other clock was read at any moment of the exchange", 1_000, 1_040, 0],
    ["moves down to what a slow answer allows", 940, 1_040, -60],
    ["moves up to what a fast answer allows", 1_100, 1_070, 30],
  ])("%s", (_name, shown, receivedAt, moved) => {
    const offset = new ClockOffset(0);
    expect(offset.learn({ shown, askedAt: 1_000, receivedAt })).toBe(moved);
    expect(offset.aheadMs).toBe(moved);
  });
});
