/** The columns of the runs list beside the run itself, in the order of the menu. */
export const COLUMN_NAMES = [
  "status",
  "source",
  "started",
  "duration",
  "version",
  "model",
  "steps",
  "tokens",
  "credits",
] as const;
export type ColumnName = (typeof COLUMN_NAMES)[number];

export const USUAL_COLUMNS: readonly ColumnName[] = ["status", "source", "started", "duration", "credits"];

/** Reads a choice such as `status,duration`. The usual columns if it is missing or invalid. */
export function readColumns(text: string | undefined): readonly ColumnName[] {
  if (text === undefined) return USUAL_COLUMNS;
  const names = [...new Set(text.split(","))].filter((name) => name !== "");
  const columns = names.flatMap((name) => COLUMN_NAMES.find((each) => each === name) ?? []);
  return columns.length === names.length ? columns : USUAL_COLUMNS;
}

/** Null for the usual columns. */
export function writeColumns(columns: readonly ColumnName[]): string | null {
  const text = columns.join(",");
  return text === USUAL_COLUMNS.join(",") ? null : text;
}

export function moveColumn(
  columns: readonly ColumnName[],
  name: ColumnName,
  by: 1 | -1,
): readonly ColumnName[] {
  const at = columns.indexOf(name);
  const neighbor = columns[at + by];
  if (at < 0 || neighbor === undefined) return columns;
  return columns.map((each) => (each === name ? neighbor : each === neighbor ? name : each));
}
