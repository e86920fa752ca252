import { RUN_KINDS, RUN_STATUSES } from "@/server/contract/enums";
import { RUN_PERIODS, SOURCE_CHOICES } from "@/server/runs/read/enums";
import type { RunFilter } from "@/server/runs/read/filter";

/** The filter of the runs list in the URL: `?status=Failed,Running&agent=…&period=24h&minDurationMs=60000&q=…`. */

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Params = { keys(): Iterable<string>; getAll(name: string): string[] };

/** A page's `searchParams` as URLSearchParams. */
export function paramsOf(found: Record<string, string | string[] | undefined>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(found).flatMap(([name, values]) =>
      [values ?? []].flat().map((value): [string, string] => [name, value]),
    ),
  );
}

/**
 * Reads the filter. `unread` lists unknown conditions and values, such as `status=Faild`. The filter without them
 * matches more runs than the URL suggests: show that, and offer no bulk action.
 * @param others parameters in the URL for other purposes.
 */
export function readAddress(
  params: Params,
  others: readonly string[] = [],
): { filter: RunFilter; unread: string[] } {
  let filter: RunFilter = {};
  const unread: string[] = [];
  for (const name of new Set(params.keys())) {
    const values = params.getAll(name).filter((value) => value.trim() !== "");
    if (others.includes(name) || values.length === 0) continue;
    // Of two values for one name, neither is used.
    const read = values.length === 1 ? READERS.get(name)?.(values[0] ?? "") : null;
    if (read) filter = { ...filter, ...read };
    else unread.push(...values.map((value) => `${name}=${value}`));
  }
  return { filter, unread };
}

/** The meaning of a condition's value; null for none. */
type Reader = (value: string) => RunFilter | null;

const wordOf = <Field extends "kind" | "source" | "period">(
  field: Field,
  choices: readonly NonNullable<RunFilter[Field]>[],
): Reader => {
  return (value) => {
    const word = choices.find((each) => each === value);
    return word === undefined ? null : { [field]: word };
  };
};

const READERS = new Map<string, Reader>([
  [
    "status",
    (value) => {
      const choices = [...new Set(value.split(","))];
      const status = choices.flatMap((word) => RUN_STATUSES.find((each) => each === word) ?? []);
      return status.length === choices.length ? { status } : null;
    },
  ],
  ["kind", wordOf("kind", RUN_KINDS)],
  ["source", wordOf("source", SOURCE_CHOICES)],
  ["period", wordOf("period", RUN_PERIODS)],
  ["q", (value) => (value.trim().length <= LONGEST_TEXT ? { text: value.trim() } : null)],
]);

export const LONGEST_TEXT = 200;

/** The filter as a query string with `?`, or "" for none. */
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

for (const [name, field] of ID_FIELDS) {
  READERS.set(name, (value) => (UUID.test(value) ? { [field]: value } : null));
}
for (const field of ["from", "to"] as const) {
  READERS.set(field, (value) => {
    const moment = new Date(value);
    return moment.getTime() >= 0 ? { [field]: moment.toISOString() } : null;
  });
}
for (const field of SIZE_FIELDS) {
  READERS.set(
    field,
    field.endsWith("Credits")
      ? (value) => (/^\d{1,12}(\.\d{1,4})?$/.test(value) ? { [field]: value } : null)
      : (value) => (/^\d{1,15}$/.test(value) ? { [field]: Number(value) } : null),
  );
}
