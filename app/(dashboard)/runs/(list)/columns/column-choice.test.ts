import { expect, test } from "vitest";
import { moveColumn, readColumns, USUAL_COLUMNS, writeColumns } from "./column-choice";

test("a choice of columns is read as it was written, and an invalid one is ignored", () => {
  expect(readColumns("credits,status")).toEqual(["credits", "status"]);
  expect(writeColumns(["credits", "status"])).toBe("credits,status");
  expect(readColumns("")).toEqual([]);
  expect(writeColumns([])).toBe("");
  expect(writeColumns(USUAL_COLUMNS)).toBeNull();
  for (const text of [undefined, "status,unknown", "<b>"]) expect(readColumns(text)).toBe(USUAL_COLUMNS);
  expect(readColumns("status,status")).toEqual(["status"]);
});

test("a column moves by one place, and not beyond the ends", () => {
  const columns = readColumns("status,tokens,credits");
  expect(moveColumn(columns, "tokens", 1)).toEqual(["status", "credits", "tokens"]);
  expect(moveColumn(columns, "tokens", -1)).toEqual(["tokens", "status", "credits"]);
  expect(moveColumn(columns, "credits", 1)).toBe(columns);
  expect(moveColumn(columns, "steps", 1)).toBe(columns);
});
