import { sha256 } from "./sha256";

/** Ids of traces and spans (W3C Trace Context, https://www.w3.org/TR/trace-context/). They are functions of a run's ids. */

type TraceParent = { traceId: string; spanId: string; isSampled: boolean };

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Reads a header `traceparent`; null if it is missing or not valid, which starts a new trace. */
export function parseTraceParent(text: string | null): TraceParent | null {
  const [, version = "", traceId = "", spanId = "", flags = "", rest] = FORM.exec(text ?? "") ?? [];
  if (version === "" || version === "ff" || (version === "00" && rest !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** `traceParent`: the header with which the root run was started. */
type RunInTrace = { id: string; rootRunId: string; traceParent: string | null };

export function traceIdOf({ rootRunId, traceParent }: Omit<RunInTrace, "id">): string {
  return parseTraceParent(traceParent)?.traceId ?? rootRunId.replaceAll("-", "");
}

/** The span of a run, or of its step or model call with this key. */
export function spanIdOf(runId: string, key?: string): string {
  return sha256(key === undefined ? runId : `${runId} ${key}`).toString("hex", 0, 8);
}

/** The header `traceparent` of what a step calls. */
export function traceParentOf(run: RunInTrace, key: string): string {
  const isSampled = parseTraceParent(run.traceParent)?.isSampled ?? true;
  return `00-${traceIdOf(run)}-${spanIdOf(run.id, key)}-${isSampled ? "01" : "00"}`;
}
