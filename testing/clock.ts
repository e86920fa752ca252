import type { DatabaseClock } from "@/server/base/db/database-clock";

/** A clock that moves only when a test moves it. */
export type TestClock = DatabaseClock & {
  advance(ms: number): void;
  set(moment: Date | string): void;
};

export function testClock(start: Date | string = "2026-01-01T00:00:00.000Z"): TestClock {
  let at = new Date(start).getTime();
  let monotonicMs = 0;
  const move = (ms: number) => {
    at += ms;
    monotonicMs += Math.max(0, ms);
  };
  return {
    now: () => new Date(at),
    forDatabase: () => new Date(at),
    monotonicMs: () => monotonicMs,
    sync: async () => {},
    advance: move,
    set: (moment) => move(new Date(moment).getTime() - at),
  };
}
