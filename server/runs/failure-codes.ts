/**
 * The reasons for failed runs: the closed list of `error_code`, without imports so that pages can use it. The run's
 * page explains each one (app/(dashboard)/runs/[runId]/result/explain-failure.ts).
 */
export const FAILURE_CODES = [
  /** The organization's balance did not allow the next step. */
  "insufficient_credits",
  /** The run reached the lowest `maxCredits` of its target, key or trigger. */
  "max_credits",
  "deadline_exceeded",
  /** It waited too long for a slot. */
  "not_admitted",
  /** An agent made the same failing call three times. */
  "repeated_failure",
  /** A tool's step failed, or an agent's call whose policy then ends the run. */
  "step_failed",
  "output_failed",
  /** A tool's output or an agent's answer does not match its output schema. */
  "output_invalid",
  "output_too_large",
  "model_unauthorized",
  "model_unknown",
  "model_quota",
  /** The conversation does not fit into the model's context window, even with shortened outputs of functions. */
  "input_too_long",
  "model_refused",
  "model_unavailable",
  /** The answer was cut off at the limit of output tokens, and a repeat with a larger limit did not help. */
  "output_truncated",
  /** The model declined to answer, or its provider filtered the answer. */
  "refused",
  /** The model answered twice with nothing. */
  "empty_answer",
  /** The parent run ended first. */
  "caller_ended",
  /** A platform error; nothing is charged. */
  "internal_error",
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

/** The error of a model call that a cancel of its run aborted after it had received something. */
export const CANCELLED = "The run is cancelled.";

/** The error of a call or step that was in progress when its run ended; fail_open_rows.sql writes the same. */
export const unfinishedError = (runStatus: "Failed" | "Cancelled", kind: "step" | "call") =>
  `The run ended (${runStatus}) before this ${kind} had finished.`;

/** Returns true if a call or step with this error did not fail, but was interrupted by a cancel of its run. */
export function isInterrupted(error: string | null): boolean {
  if (error === null) return false;
  return (
    error === CANCELLED ||
    (["step", "call"] as const).some((kind) => error === unfinishedError("Cancelled", kind))
  );
}
