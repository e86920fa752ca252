export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/**
 * The only source of the current time. Everything that needs it takes a `Clock`, so that tests can set it
 * (`testing/clock.ts`).
 */
export type Clock = {
  /** A new `Date` each time: callers may keep it. */
  now(): Date;
  /** Null in production: SQL uses the database's clock. Tests give their own time. */
  forDatabase(): Date | null;
  /** Only increases, whatever is done to the machine's clock: for time spans within this process. */
  monotonicMs(): number;
};

/** A stopped clock, so that everything in one change has the same time. */
export const clockAt = (at: Date): Clock => ({
  now: () => new Date(at),
  forDatabase: () => at,
  monotonicMs: () => at.getTime(),
});

/** The machine's own clock, for the log. */
export const systemClock: Clock = {
  now: () => new Date(),
  forDatabase: () => null,
  monotonicMs: () => performance.now(),
};
