import { isContainer, isJsonObject, type Json } from "@/server/base/json/json";

/** A list of records as a table: its columns in order of appearance, and whether a table is easier to read than a tree. */
export type Records = { columns: string[]; readsBetter: boolean };

const MAX_COLUMNS = 50;
const COLUMNS_TO_READ = 12;
const SAMPLE = 200;

/**
 * The columns of a list of objects or nulls; null if the list is not a table. `readsBetter`: better as a table than
 * as a tree.
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
    if (columns.size > MAX_COLUMNS) return null;
  }
  if (columns.size === 0 || records * 2 < list.length) return null;
  const sample = list.slice(0, SAMPLE).filter(isJsonObject);
  const members = sample.flatMap((record) => Object.values(record));
  const nested = members.filter(isContainer).length;
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
