/** The closed lists of words about runs, free of imports so that pages can use them too. */

export const RUN_STATUSES = ["Pending", "Running", "Completed", "Failed", "Cancelled"] as const;
export type RunStatusWord = (typeof RUN_STATUSES)[number];

export const RUN_SOURCES = ["api", "webhook", "dashboard", "operator", "run"] as const;
export type RunSourceWord = (typeof RUN_SOURCES)[number];

export const RUN_PERIODS = ["1h", "24h", "7d", "30d", "90d"] as const;
export type RunPeriod = (typeof RUN_PERIODS)[number];

/** Whether a run with this status changes no more. */
export function isTerminal(status: RunStatusWord): boolean {
  return status === "Completed" || status === "Failed" || status === "Cancelled";
}
