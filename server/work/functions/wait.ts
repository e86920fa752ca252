import { z } from "zod";
import { defineFunction } from "@/server/work/functions/core/define";

const MAX_SECONDS = 86_400;

const EITHER = "must have either seconds or until";

/** Waits without a slot; the engine does it (server/runs/engine/execute/calls/call-step.ts). */
export const waitFunction = defineFunction({
  name: "wait",
  title: "Wait",
  description:
    "Waits for a number of seconds or until a time. The run uses no slot meanwhile, and the wait survives restarts.",
  input: z
    .object({
      seconds: z.number().min(0).max(MAX_SECONDS).optional().describe("How long, from the step's beginning."),
      until: z.iso
        .datetime({ offset: true })
        .optional()
        .describe("A time such as 2027-01-31T09:00:00Z. A time in the past ends immediately."),
    })
    .refine(({ seconds, until }) => (seconds === undefined) !== (until === undefined), {
      error: EITHER,
    }),
  output: z.object({ until: z.string().describe("When the wait was over, ISO 8601.") }),
  errors: { past_deadline: "The wait would end after the run's deadline (deadlineSeconds)." },
  findIssues: ({ seconds, until }) =>
    (seconds === undefined) === (until === undefined) ? [{ path: "", message: EITHER }] : [],
  hasSideEffects: false,
  timeoutMs: MAX_SECONDS * 1000,
  example: { input: { seconds: 30 }, output: { until: "2026-03-04T05:06:37.000Z" } },
  run: { engine: "wait" },
});
