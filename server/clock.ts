/**
 * The only source of the present moment. Everything that asks for the time takes a `Clock`, so that tests can
 * set it (`testing/clock.ts`).
 */
export type Clock = {
  /** The present moment. A fresh `Date` each time: callers may keep it. */
  now(): Date;
  /**
   * What SQL takes as the present moment. Null in production: then the database's own clock decides, which is the same
   * for all processes. Tests that set the clock give its time here.
   */
  forDatabase(): Date | null;
};

/** A clock that stands at one moment: what belongs to one change has one time. */
export const clockAt = (at: Date): Clock => ({ now: () => new Date(at), forDatabase: () => at });

/** The machine's own clock. */
export const systemClock: Clock = { now: () => new Date(), forDatabase: () => null };
