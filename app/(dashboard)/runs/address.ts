import type { RunFilter } from "@/server/runs/read/find/filter";
import { CONDITIONS } from "./conditions";

/**
 * The runs list's filter in the URL: `?status=Failed,Running&agent=…&period=24h&minDurationMs=60000&metadata.KEY=…&q=…`.
 * Without `source`, a list shows root runs only, a search also child runs; `source=any`: all runs.
 */
const ANY = "any";
const METADATA = "metadata.";
const defaultSource = (filter: RunFilter): RunFilter["source"] => (filter.text ? undefined : "outside");

/** Returns true if a filter has no condition but the one that hides child runs. */
export function isPlain({ source, ...others }: RunFilter): boolean {
  return (source === undefined || source === "outside") && Object.keys(others).length === 0;
}

/** The filter with another text, or none. Whether it has child runs follows, unless it was chosen. */
export function withText({ text: before, source, ...rest }: RunFilter, text: string): RunFilter {
  const next: RunFilter = text ? { ...rest, text } : rest;
  const isDefault = source === defaultSource(before ? { text: before } : {});
  const chosen = isDefault ? defaultSource(next) : source;
  return chosen === undefined ? next : { ...next, source: chosen };
}

export function paramsOf(found: Record<string, string | string[] | undefined>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(found).flatMap(([name, values]) =>
      [values ?? []].flat().map((value): [string, string] => [name, value]),
    ),
  );
}

/**
 * Reads the filter. `unread` lists unknown conditions and values, such as `status=Faild`. Without them the filter
 * matches more runs: show that, and offer no bulk action. @param others parameters in the URL for other purposes.
 */
export function readFilter(
  params: Pick<URLSearchParams, "keys" | "getAll">,
  others: readonly string[] = [],
): { filter: RunFilter; unread: string[] } {
  let filter: RunFilter = {};
  const unread: string[] = [];
  for (const name of new Set(params.keys())) {
    const values = params.getAll(name).filter((value) => value.trim() !== "");
    if (others.includes(name) || values.length === 0) continue;
    // Of two values for one name, neither is used.
    const [value = ""] = values.length === 1 ? values : [];
    if (name === "source" && value === ANY) continue;
    if (value && name.startsWith(METADATA) && name !== METADATA) {
      filter = { ...filter, metadata: { ...filter.metadata, [name.slice(METADATA.length)]: value } };
      continue;
    }
    const read = value && CONDITIONS.find(({ param }) => param === name)?.read(value);
    if (read) filter = { ...filter, ...read };
    else unread.push(...values.map((each) => `${name}=${each}`));
  }
  const source = params.getAll("source").length > 0 ? undefined : defaultSource(filter);
  return { filter: source === undefined ? filter : { ...filter, source }, unread };
}

/** The filter as a query string with `?`, or "" for none. */
export function writeFilter(filter: RunFilter): string {
  const values = CONDITIONS.flatMap(({ param, field }): [string, string][] => {
    if (field === "metadata") {
      return Object.entries(filter.metadata ?? {}).map(([key, value]) => [METADATA + key, value]);
    }
    if (field !== "source") return [[param, String(filter[field] ?? "")]];
    return [[param, filter.source === defaultSource(filter) ? "" : (filter.source ?? ANY)]];
  });
  const text = new URLSearchParams(values.filter(([, value]) => value !== "")).toString();
  return text === "" ? "" : `?${text.replaceAll("%2C", ",")}`;
}
