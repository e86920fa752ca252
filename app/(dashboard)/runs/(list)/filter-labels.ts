import { formatCount, formatDate, formatMinute, formatSpan } from "@/app/_ui/figures/format";
import type { RunPeriod, SourceChoice } from "@/server/runs/read/enums";
import type { RunFilter } from "@/server/runs/read/filter";

/** The labels of conditions, in the picker and in the chips. */

export const PERIOD_LABELS: Record<RunPeriod, string> = {
  "1h": "created in the last hour",
  "24h": "created in the last 24 h",
  "7d": "created in the last 7 days",
  "30d": "created in the last 30 days",
  "90d": "created in the last 90 days",
};

export const SOURCE_LABELS: Record<SourceChoice, string> = {
  api: "by API",
  webhook: "by webhook",
  dashboard: "from the dashboard",
  operator: "by the operator",
  run: "by another run",
  outside: "not by another run",
};

/** Describes the search of server/runs/read/find.ts. */
export const SEARCH_HELP =
  "Finds runs that contain all words: in the first 8,192 characters of input or output, or the first 2,048 of the error. A word matches by its beginning, one of one or two letters only as a whole. While a run is in progress, the search matches the exact text of its input. Punctuation is not searched.";

type ConditionLabel = { field: keyof RunFilter; text: string };

export function sizeLabels(filter: RunFilter): ConditionLabel[] {
  const { minDurationMs, maxDurationMs, minTokens, maxTokens, minCredits, maxCredits } = filter;
  const labels: [keyof RunFilter, string | undefined][] = [
    ["minDurationMs", minDurationMs === undefined ? undefined : `took ${formatSpan(minDurationMs)} or more`],
    ["maxDurationMs", maxDurationMs === undefined ? undefined : `took ${formatSpan(maxDurationMs)} or less`],
    ["minTokens", minTokens === undefined ? undefined : `${formatCount(minTokens)} tokens or more`],
    ["maxTokens", maxTokens === undefined ? undefined : `${formatCount(maxTokens)} tokens or less`],
    ["minCredits", minCredits === undefined ? undefined : `${minCredits} credits or more`],
    ["maxCredits", maxCredits === undefined ? undefined : `${maxCredits} credits or less`],
  ];
  return labels.flatMap(([field, text]) => (text === undefined ? [] : [{ field, text }]));
}

/** Labels for the creation times of a filter, in the reader's time zone. Midnight is shown as a day. */
export function timeLabels({ from, to }: RunFilter, timeZone: string): ConditionLabel[] {
  const describe = (iso: string) => {
    const at = new Date(iso);
    const day = formatDate(at, timeZone);
    const time = formatMinute(at, timeZone).split(" ").at(-1);
    return time === "00:00" ? day : `${day} ${time}`;
  };
  return [
    ...(from ? [{ field: "from", text: `created from ${describe(from)}` } as const] : []),
    ...(to ? [{ field: "to", text: `${from ? "" : "created "}before ${describe(to)}` } as const] : []),
  ];
}
