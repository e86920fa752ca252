/**
 * The only source of the present moment. Everything that asks for the time takes a `Clock`, so that tests can
 * set it (`server/testing/clock.ts`) and so that what ran when is a fact one can replay.
 */
export type Clock = {
  /** The present moment. A fresh `Date` each time: callers may keep it. */
  now(): Date;
};

/** The machine's own clock. */
export const systemClock: Clock = { now: () => new Date() };
