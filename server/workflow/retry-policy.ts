import type { CallStep } from "./definition";

/** How a failed call is repeated. */
export type RetryPolicy = { count: number; firstWaitMs: number; factor: number; longestWaitMs: number };

export function retryPolicyOf(setting: CallStep["retries"]): RetryPolicy {
  const defaults = { firstWaitMs: 500, factor: 2, longestWaitMs: 30_000 };
  return typeof setting === "object" ? setting : { count: setting ?? 0, ...defaults };
}

/** The wait after a failed attempt, counted from 1. */
export function retryWaitMs({ firstWaitMs, factor, longestWaitMs }: RetryPolicy, attempt: number): number {
  return Math.min(longestWaitMs, firstWaitMs * factor ** (attempt - 1));
}
