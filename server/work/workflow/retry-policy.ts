export type RetryPolicy = { count: number; firstWaitMs: number; factor: number; longestWaitMs: number };

export const RETRY_DEFAULTS = { firstWaitMs: 500, factor: 2, longestWaitMs: 30_000 };

/** The policy of a step's setting: a complete one, or only how many further attempts there are. */
export function retryPolicyOf(setting: RetryPolicy | number | undefined): RetryPolicy {
  return typeof setting === "object" ? setting : { count: setting ?? 0, ...RETRY_DEFAULTS };
}

/** The wait after a failed attempt, counted from 1. */
export function retryWaitMs({ firstWaitMs, factor, longestWaitMs }: RetryPolicy, attempt: number): number {
  return Math.min(longestWaitMs, firstWaitMs * factor ** (attempt - 1));
}
