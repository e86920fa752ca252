import type { Clock } from "@/server/clock";

/** A clock that moves only when a test moves it. */
export type TestClock = Clock & {
  advance(ms: number): void;
  set(moment: Date | string): void;
};

/** Creates a clock that starts at `start` (an ISO 8601 string or a `Date`). */
export function testClock(start: Date | string = "2026-01-01T00:00:00.000Z"): TestClock {
  let at = new Date(start).getTime();
  return {
    now: () => new Date(at),
    forDatabase: () => new Date(at),
    advance: (ms) => {
      at += ms;
    },
    set: (moment) => {
      at = new Date(moment).getTime();
    },
  };
}
