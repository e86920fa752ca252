/**
 * Why runs fail: the closed list behind a run's `error_code`, free of imports so that pages can use it too. Each has its
 * sentence and its way out on the run's page (app/(dashboard)/runs/[runId]/result/explain-failure.ts).
 */
export const FAILURE_CODES = [
  /** The organization's balance did not cover the next step. */
  "insufficient_credits",
  /** The run reached the narrowest `maxCredits` of its target, key or trigger. */
  "max_credits",
  "deadline_exceeded",
  /** It waited too long for a place. */
  "not_admitted",
  /** An agent made the very same failing call three times. */
  "repeated_failure",
  /** A step of a tool failed. */
  "step_failed",
  /** A tool's output expression failed. */
  "output_failed",
  /** A tool's output does not fit its output schema. */
  "output_invalid",
  "output_too_large",
  "model_unauthorized",
  "model_unknown",
  "model_quota",
  "model_input_too_long",
  "model_refused",
  "model_unavailable",
  /** The run that called this one ended before it. */
  "caller_ended",
  /** A fault of the platform, for which nothing is charged. */
  "internal_error",
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];
