import { MIB } from "@/server/limits/sizes";
import type { ToolCall } from "./port";

/** Bounds of one model reply: everything from a provider is bounded in size and number. */

/** One line or event of a stream, in characters. */
export const MAX_EVENT_LENGTH = MIB;
/** All text, reasoning and arguments of one reply, in characters. */
export const MAX_REPLY_LENGTH = 8 * MIB;
/** How many calls of one reply are executed. */
export const MAX_EXECUTED_CALLS = 32;
/** How many calls of one reply become steps; one more step represents the rest. */
export const MAX_RECORDED_CALLS = 128;

/** The name of the call that represents all calls beyond MAX_RECORDED_CALLS; its arguments are `{"count": N}`. */
export const FURTHER_CALLS = "further_calls";

/**
 * Cuts the calls of a reply to the first 128 and one that represents the rest; idempotent.
 * @param further the number of later calls that were discarded.
 */
export function limitCalls(calls: readonly ToolCall[], further = 0): ToolCall[] {
  if (calls.length + further <= MAX_RECORDED_CALLS) return [...calls];
  const [summary] = calls.slice(MAX_RECORDED_CALLS);
  if (summary?.name === FURTHER_CALLS && calls.length === MAX_RECORDED_CALLS + 1) return [...calls];
  const recorded = calls.slice(0, MAX_RECORDED_CALLS);
  const taken = new Set(recorded.map(({ id }) => id));
  let id = summary?.id ?? FURTHER_CALLS;
  while (taken.has(id)) id = `${id}_`;
  const count = calls.length - recorded.length + further;
  return [...recorded, { id, name: FURTHER_CALLS, arguments: JSON.stringify({ count }) }];
}
