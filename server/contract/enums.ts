/** Enums that the API, the database and the pages share. No imports, so that pages can use them. */

export const RUN_KINDS = ["agent", "tool"] as const;
export type RunKind = (typeof RUN_KINDS)[number];

/** The statuses of agents, tools and triggers. Active ones start runs. */
export const DEFINITION_STATUSES = ["active", "inactive"] as const;

export const RUN_STATUSES = ["Pending", "Running", "Completed", "Failed", "Cancelled"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const OPEN_STATUSES = ["Pending", "Running"] as const satisfies readonly RunStatus[];
export const ENDED_STATUSES = ["Completed", "Failed", "Cancelled"] as const satisfies readonly RunStatus[];
export type EndedStatus = (typeof ENDED_STATUSES)[number];

export function isTerminal(status: RunStatus): boolean {
  return status !== "Pending" && status !== "Running";
}

/** The status of a step or a model call. A skipped step was not executed: it counts as nothing. */
export const STEP_STATUSES = ["Running", "Completed", "Failed", "Skipped"] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

/** Calls of a fork are answered from its origin's steps, or executed. */
export const FORK_MODES = ["recorded", "live"] as const;

export const RUN_SOURCES = ["api", "webhook", "dashboard", "operator", "run", "draft", "schedule"] as const;
export type RunSource = (typeof RUN_SOURCES)[number];

export const METRICS_DIMENSIONS = ["agent", "tool", "trigger", "key", "schedule"] as const;

export const CREDIT_ENTRY_KINDS = ["grant", "hold", "charge", "release", "refund", "adjustment"] as const;
export type CreditEntryKind = (typeof CREDIT_ENTRY_KINDS)[number];

export const DELIVERY_OUTCOMES = ["accepted", "repeated", "rejected", "filtered"] as const;
export type DeliveryOutcomeName = (typeof DELIVERY_OUTCOMES)[number];

export const CALLBACK_EVENTS = [
  "run.completed",
  "run.failed",
  "run.cancelled",
  "run.waiting",
  "credits.low",
  "schedule.missed",
] as const;
export type CallbackEventType = (typeof CALLBACK_EVENTS)[number];
/** Those that the address of a start's X-Callback-Url gets. */
export const CALLBACK_END_EVENTS = [
  "run.completed",
  "run.failed",
  "run.cancelled",
] as const satisfies readonly CallbackEventType[];

/** The policies for a due time while the schedule's earlier run is still open. */
export const OVERLAP_POLICIES = ["skip", "queue", "allow"] as const;
export type OverlapPolicyName = (typeof OVERLAP_POLICIES)[number];

export const TICK_OUTCOMES = ["started", "skipped", "missed"] as const;
export type TickOutcomeName = (typeof TICK_OUTCOMES)[number];

/** The reasons for which a schedule starts nothing at a due time, besides the error codes of a rejected start. */
export type TickCode = "still_running" | "queue_full" | "paused" | "too_late" | "too_many";

export const AUDIT_SUBJECTS = [
  "agent",
  "tool",
  "trigger",
  "callback",
  "schedule",
  "secret",
  "model_provider",
  "api_key",
  "member",
  "invitation",
  "organization",
] as const;
export type AuditSubject = (typeof AUDIT_SUBJECTS)[number];

/** The most calls of the dashboard's procedures in one request. */
export const MAX_BATCHED_CALLS = 20;
