import type { ToolCall } from "@/server/models/port";

/** What one answer of a model may hold: everything from a provider is bounded in size and number. */

/** One line and one event of a stream, in characters. */
export const MAX_EVENT_LENGTH = 1024 * 1024;
/** All text, reasoning and arguments of one answer, in characters. */
export const MAX_ANSWER_LENGTH = 8 * 1024 * 1024;
/** Calls of one answer that are executed. */
export const MAX_EXECUTED_CALLS = 32;
/** Calls of one answer that become steps; one further step stands for the rest. */
export const MAX_RECORDED_CALLS = 128;

/** The name of the call that stands for all calls beyond MAX_RECORDED_CALLS; its arguments are `{"count": N}`. */
export const FURTHER_CALLS = "further_calls";

/**
 * The calls of an answer cut to the first 128 and one that stands for the rest. Cutting again changes nothing.
 * @param further calls that came after these and were not kept.
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
