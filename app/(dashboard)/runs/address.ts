import type { RunFilter } from "@/server/runs/filter";
import { RUN_PERIODS, RUN_SOURCES, RUN_STATUSES } from "@/server/runs/words";

/** The runs list's filter as it stands in the address: `?status=Failed,Running&agent=…&period=24h&minDurationMs=60000&q=…`. */

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Params = { get(name: string): string | null };

/** Reads the filter; what is no valid value is left out. */
export function readFilter(params: Params): RunFilter {
  const filter: RunFilter = {};
  const statuses = (params.get("status") ?? "").split(",").flatMap((word) => oneOf(RUN_STATUSES, word) ?? []);
  if (statuses.length > 0) filter.status = [...new Set(statuses)];
  const kind = oneOf(["agent", "tool"] as const, params.get("kind"));
  if (kind) filter.kind = kind;
  const source = oneOf(RUN_SOURCES, params.get("source"));
  if (source) filter.source = source;
  const period = oneOf(RUN_PERIODS, params.get("period"));
  if (period) filter.period = period;
  for (const [name, field] of ID_FIELDS) {
    const id = params.get(name);
    if (id && UUID.test(id)) filter[field] = id;
  }
  for (const name of ["from", "to"] as const) {
    const moment = new Date(params.get(name) ?? "");
    if (moment.getTime() >= 0) filter[name] = moment.toISOString();
  }
  for (const field of ["minDurationMs", "maxDurationMs", "minTokens", "maxTokens"] as const) {
    const number = params.get(field);
    if (number && /^\d{1,15}$/.test(number)) filter[field] = Number(number);
  }
  for (const field of ["minCredits", "maxCredits"] as const) {
    const credits = params.get(field);
    if (credits && /^\d{1,12}(\.\d{1,4})?$/.test(credits)) filter[field] = credits;
  }
  const text = params.get("q")?.trim().slice(0, 200);
  if (text) filter.text = text;
  return filter;
}

/** Writes the filter as a query string with its `?`, or "" for none. */
export function writeFilter(filter: RunFilter): string {
  const params = new URLSearchParams();
  if (filter.status?.length) params.set("status", filter.status.join(","));
  for (const name of ["kind", "source", "period", "from", "to"] as const) {
    const value = filter[name];
    if (value) params.set(name, value);
  }
  for (const [name, field] of ID_FIELDS) {
    const id = filter[field];
    if (id) params.set(name, id);
  }
  for (const field of SIZE_FIELDS) {
    const size = filter[field];
    if (size !== undefined) params.set(field, String(size));
  }
  if (filter.text) params.set("q", filter.text);
  const text = params.toString().replaceAll("%2C", ",");
  return text === "" ? "" : `?${text}`;
}

const ID_FIELDS = [
  ["agent", "agentId"],
  ["tool", "toolId"],
  ["trigger", "triggerId"],
  ["key", "apiKeyId"],
  ["person", "userId"],
] as const;

const SIZE_FIELDS = [
  "minDurationMs",
  "maxDurationMs",
  "minTokens",
  "maxTokens",
  "minCredits",
  "maxCredits",
] as const;

function oneOf<Word extends string>(words: readonly Word[], text: string | null): Word | undefined {
  return words.find((word) => word === text);
}
