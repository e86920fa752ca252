import { z } from "zod";
import { tryParseJson } from "@/server/base/json/json";
import type { StepStatus } from "@/server/contract/enums";
import type { Attempt, ToolCall } from "@/server/work/models/port";

const attempt = z.object({
  startedAt: z.string(),
  durationMs: z.number(),
  error: z.string().nullable(),
  retryAt: z.string().optional(),
  console: z.array(z.string()).optional(),
  notes: z.array(z.string()).optional(),
  changes: z.array(z.string()).optional(),
  shortened: z.array(z.object({ before: z.number(), keep: z.number() })).optional(),
  usage: z.string().optional(),
  provider: z.string().optional(),
  waited: z.literal(true).optional(),
  model: z.string().optional(),
});
const attemptList = z.array(attempt).catch([]);

/** The attempts of a step or model call, oldest first. */
export function readAttempts(text: string): Attempt[] {
  return attemptList.parse(tryParseJson(text));
}

export const toolCallList = z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() }));
const readableToolCallList = toolCallList.catch([]);

/** The tool calls of a model call, for display: none if the text is not readable. */
export function readToolCalls(text: string): ToolCall[] {
  return readableToolCallList.parse(tryParseJson(text));
}

export function rewriteToolCalls(calls: readonly ToolCall[], rewrite: (text: string) => string): ToolCall[] {
  return calls.map((call) => ({
    id: rewrite(call.id),
    name: rewrite(call.name),
    arguments: rewrite(call.arguments),
  }));
}

const INTERRUPTED = "Interrupted: its process ended or stalled. It was started again.";

/**
 * The attempts of a step or model call that a worker takes over at `now`, including the interrupted one. A step that
 * was open when its run left a worker in order, such as a wait or a called run, was not interrupted.
 */
export function attemptsBefore(
  row: { status: StepStatus; startedAt: Date; attempts: string },
  run: { leftAt: Date | null },
  now: Date,
): Attempt[] {
  const known = readAttempts(row.attempts);
  if (row.status !== "Running" || (run.leftAt !== null && run.leftAt >= row.startedAt)) return known;
  const last = known.at(-1);
  const startedAt = last === undefined ? row.startedAt : startAfter(last);
  const durationMs = now.getTime() - startedAt.getTime();
  const waitedForNext = durationMs < 0;
  if (waitedForNext) return known;
  return [...known, { startedAt: startedAt.toISOString(), durationMs, error: INTERRUPTED }];
}

function startAfter({ startedAt, durationMs, retryAt }: Attempt): Date {
  return new Date(retryAt ?? new Date(startedAt).getTime() + durationMs);
}
