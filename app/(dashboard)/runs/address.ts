import type { RunFilter } from "@/server/runs/read/filter";
import { CONDITIONS } from "./conditions";

/** The filter of the runs list in the URL: `?status=Failed,Running&agent=…&period=24h&minDurationMs=60000&q=…`. */

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
    const read = value && CONDITIONS.find(({ param }) => param === name)?.read(value);
    if (read) filter = { ...filter, ...read };
    else unread.push(...values.map((each) => `${name}=${each}`));
  }
  return { filter, unread };
}

/** The filter as a query string with `?`, or "" for none. */
export function writeFilter(filter: RunFilter): string {
  const values = CONDITIONS.map(({ param, field }): [string, string] => [param, String(filter[field] ?? "")]);
  const text = new URLSearchParams(values.filter(([, value]) => value !== "")).toString();
  return text === "" ? "" : `?${text.replaceAll("%2C", ",")}`;
}
