import { readDuration } from "@/server/work/models/errors/durations";

/**
 * OpenAI's guide to rate limits (`x-ratelimit-…-requests`, resets such as `6m0s`), Groq's, Anthropic's
 * (`anthropic-ratelimit-requests-…`, resets in RFC 3339), and the common `x-ratelimit-remaining` with seconds or a
 * Unix time (OpenRouter's in milliseconds).
 */

/** The calls that are left, and the time for which they are. */
export type Allowance = { calls: number; ms: number };

const CALLS = [
  ["x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"],
  ["anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"],
  ["x-ratelimit-remaining", "x-ratelimit-reset"],
] as const;
// They say nothing about calls before they are used up.
const TOKENS = [
  ["x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"],
  ["anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"],
  ["anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"],
  ["anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"],
] as const;

/** The strictest limit that a response states; null if it states none. */
export function readAllowance(headers: Headers, now: Date): Allowance | null {
  let strictest: Allowance | null = null;
  const consider = (calls: number, reset: string) => {
    const ms = readReset(headers.get(reset), now);
    if (ms === null) return;
    if (strictest === null || calls < strictest.calls || (calls === strictest.calls && ms > strictest.ms))
      strictest = { calls, ms };
  };
  for (const [remaining, reset] of CALLS) {
    const calls = headers.get(remaining);
    if (calls !== null && /^\d+$/.test(calls)) consider(Number(calls), reset);
  }
  for (const [remaining, reset] of TOKENS) if (headers.get(remaining) === "0") consider(0, reset);
  return strictest;
}

// Smaller numbers are seconds, larger ones Unix times in seconds or, from the second bound on, milliseconds.
const UNIX_SECONDS = 1e9;
const UNIX_MS = 1e12;

/** In milliseconds; null if it cannot be read. */
function readReset(text: string | null, now: Date): number | null {
  const trimmed = text?.trim() ?? "";
  if (trimmed === "") return null;
  const number = Number(trimmed);
  if (Number.isFinite(number)) {
    if (number < UNIX_SECONDS) return Math.max(0, number * 1000);
    return Math.max(0, (number < UNIX_MS ? number * 1000 : number) - now.getTime());
  }
  const duration = readDuration(trimmed);
  if (duration !== null) return duration;
  const at = Date.parse(trimmed);
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime());
}
