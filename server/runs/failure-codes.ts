/**
 * The reasons for failed runs: the closed list of `error_code`, without imports so that pages can use it. The run's
 * page explains each one (app/(dashboard)/runs/[runId]/result/explain-failure.ts).
 */
export const FAILURE_CODES = [
  "insufficient_credits",
  "max_credits",
  "deadline_exceeded",
  "not_admitted",
  /** An agent made the same failing call three times. */
  "repeated_failure",
  /** A tool's step failed, or an agent's call whose policy then ends the run. */
  "step_failed",
  "output_failed",
  "output_invalid",
  "output_too_large",
  "model_unauthorized",
  "model_unknown",
  "model_quota",
  /** The context window is too small, even with shortened outputs of functions. */
  "input_too_long",
  "model_refused",
  "model_unavailable",
  /** A repeat with a larger limit of output tokens did not help. */
  "output_truncated",
  /** The model declined to answer, or its provider filtered the answer. */
  "refused",
  /** The model gave an empty answer twice. */
  "empty_answer",
  "caller_ended",
  /** Nothing is charged. */
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
