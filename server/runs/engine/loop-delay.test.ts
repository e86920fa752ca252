import { expect, test } from "vitest";
import { LoopDelay, TICK_MS } from "./loop-delay";

const MINUTE = 60_000 / TICK_MS;

function measured() {
  let now = 1_000;
  const delay = new LoopDelay(() => now);
  const tick = (times: number, lateBy = 0) => {
    for (let n = 0; n < times; n += 1) {
      now += TICK_MS + lateBy;
      delay.tick();
    }
  };
  return { delay, tick };
}

test("is zero before the first minute has passed, and while timers fire in time", () => {
  const { delay, tick } = measured();
  expect(delay.read()).toEqual({ p99: 0, longest: 0 });
  tick(MINUTE);
  expect(delay.read()).toEqual({ p99: 0, longest: 0 });
});

test("one stall is the longest for a minute, and no p99", () => {
  const { delay, tick } = measured();
  tick(MINUTE);
  tick(1, 281);
  expect(delay.read()).toEqual({ p99: 0, longest: 281 });
  // The stall itself took the time of five ticks.
  tick(MINUTE - 6);
  expect(delay.read()).toEqual({ p99: 0, longest: 281 });
  tick(1);
  expect(delay.read().longest).toBeLessThan(281);
  tick(5);
  expect(delay.read()).toEqual({ p99: 0, longest: 0 });
});

test("stalls of more than a hundredth of the time are the p99", () => {
  const { delay, tick } = measured();
  tick(MINUTE);
  for (let n = 0; n < 5; n += 1) {
    tick(20);
    tick(1, 300);
  }
  expect(delay.read()).toEqual({ p99: 200, longest: 300 });
});

test("a stall longer than a minute fills the minute", () => {
  const { delay, tick } = measured();
  tick(1, 90_000);
  expect(delay.read()).toEqual({ p99: 59_350, longest: 59_950 });
});
