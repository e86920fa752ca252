import type { RunFilter } from "./find/filter";
import type { MetricsSubject } from "./metrics/metrics";

/** Pages use it: import no code that only a server runs. */

const SUBJECTS = {
  agentId: "agent",
  toolId: "tool",
  triggerId: "trigger",
  apiKeyId: "key",
  scheduleId: "schedule",
} as const;
const IGNORED = ["status", "period", "from", "to"];

/**
 * The part of a filter that the stored counts can answer: child runs or not, and the subject, if one. Ignores its status and
 * times. Null if they cannot, such as for a text.
 */
export function countedFilter(
  filter: RunFilter,
): { children: boolean; subject: MetricsSubject | undefined } | null {
  const { source, ...others } = filter;
  const fields = Object.entries(others).filter(
    ([field, value]) => value !== undefined && !IGNORED.includes(field),
  );
  if (source !== undefined && source !== "outside" && source !== "saved") return null;
  const children = source !== "outside";
  const [[field, id] = [], ...more] = fields;
  if (field === undefined) return { children, subject: undefined };
  for (const [name, dimension] of Object.entries(SUBJECTS)) {
    if (name === field && more.length === 0 && typeof id === "string")
      return { children, subject: { dimension, id } };
  }
  return null;
}
