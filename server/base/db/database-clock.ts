import { z } from "zod";
import type { Clock } from "@/server/base/clock";
import { ClockOffset } from "./clock-offset";
import { defineQuery, type Queryable } from "./statement";

/**
 * The database's clock, which all processes share, so that they may compare times. Between readings it advances
 * with the process's monotonic clock, whatever the machine's clock does.
 */
export type DatabaseClock = Clock & {
  /** Before the first reading, the time is the machine's. */
  sync(client: Queryable): Promise<void>;
};

const READ_CLOCK = defineQuery(
  "read-clock",
  z.object({ shown: z.number() }),
  "SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS shown",
);

export function createDatabaseClock(): DatabaseClock {
  const offset = new ClockOffset(Date.now() - performance.now());
  return {
    now: () => new Date(performance.now() + offset.aheadMs),
    forDatabase: () => null,
    monotonicMs: () => performance.now(),
    async sync(client) {
      const askedAt = performance.now();
      const [row] = await READ_CLOCK(client);
      if (row) offset.learn({ shown: row.shown, askedAt, receivedAt: performance.now() });
    },
  };
}
