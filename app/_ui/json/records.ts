import { isJsonObject, type Json } from "@/server/json";

/** A list of records as a table: its columns in the order of their appearance, and whether it reads better so than as a tree. */
export type Records = { columns: string[]; readsBetter: boolean };

/** More columns are no table that one can take in. */
const MOST_COLUMNS = 50;
/** So many columns fit beside one another on a page. */
const COLUMNS_TO_READ = 12;
/** So many records tell what the others are like. */
const SAMPLE = 200;

/**
 * The columns of a list whose items are objects, some of them null; null when it is no table. It reads better as one from two
 * records on, when they share most of their members and few of these have members of their own: a lone record reads better
 * line by line, as do records that have little in common.
 */
export function readRecords(list: Json): Records | null {
  if (!Array.isArray(list)) return null;
  const columns = new Set<string>();
  let records = 0;
  for (const item of list) {
    if (item === null) continue;
    if (!isJsonObject(item)) return null;
    records += 1;
    for (const key of Object.keys(item)) columns.add(key);
    if (columns.size > MOST_COLUMNS) return null;
  }
  if (columns.size === 0 || records * 2 < list.length) return null;
  const sample = list.slice(0, SAMPLE).filter(isJsonObject);
  const members = sample.flatMap((record) => Object.values(record));
  const nested = members.filter((member) => typeof member === "object" && member !== null).length;
  return {
    columns: [...columns],
    readsBetter:
      records > 1 &&
      columns.size > 1 &&
      columns.size <= COLUMNS_TO_READ &&
      members.length >= 0.6 * sample.length * columns.size &&
      nested <= 0.5 * members.length,
  };
}
