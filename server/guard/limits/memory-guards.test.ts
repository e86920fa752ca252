import { expect, it } from "vitest";
import { HOUR_MS } from "@/server/base/clock";
import { testClock } from "@/testing/clock";
import { createByteBudget, createMemoryWindow, guardKey } from "./memory-guards";

it.each([
  ["192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:DB8:0001:2::1", "2001:db8:1:2"],
  ["2001:db8::1", "2001:db8:0:0"],
  ["::1", "0:0:0:0"],
  ["fe80::1%eth0", "fe80:0:0:0"],
  ["unknown", "unknown"],
  ["x".repeat(10_000), "x".repeat(64)],
])("guards count %s under %s", (address, key) => {
  expect(guardKey(address)).toBe(key);
});

it("guards free a key in time though the clock was set back", () => {
  const clock = testClock();
  const calls = createMemoryWindow(1, 60, clock);
  const bytes = createByteBudget(10, 60, clock);
  const takeAll = () => [calls.allows("key"), bytes.takes("key", 10)];
  expect(takeAll()).toEqual([true, true]);
  clock.advance(-2 * HOUR_MS);
  expect(takeAll()).toEqual([false, false]);
  clock.advance(60_000);
  expect(takeAll()).toEqual([true, true]);
});
