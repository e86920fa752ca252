import type { Clock } from "@/server/base/clock";
import { createMemoryWindow } from "./memory-guards";
import { rateLimited } from "./rate-limit";

/** Bounds the statements that an address causes with unknown keys or tokens. Both methods throw `rate_limited`. */
export type LookupGuard = {
  /** Call it before the database is asked for what was never found. */
  check(): void;
  countUnknown(): void;
};

/** Creates a function that returns the guard of an address: at most `limit` unknown ones in `seconds`. */
export function createLookupGuards({ limit, seconds }: { limit: number; seconds: number }, clock: Clock) {
  const unknown = createMemoryWindow(limit, seconds, clock);
  const require = (isAllowed: boolean) => {
    if (isAllowed) return;
    throw rateLimited("calls", { allowed: false, limit, seconds, remaining: 0, resetSeconds: seconds });
  };
  return (addressOf: () => string): LookupGuard => ({
    check: () => require(!unknown.isFull(addressOf())),
    countUnknown: () => require(unknown.allows(addressOf())),
  });
}
