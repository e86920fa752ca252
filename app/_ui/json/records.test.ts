import { describe, expect, it } from "vitest";
import type { Json } from "@/server/base/json/json";
import { readRecords } from "./records";

describe("a list of records", () => {
  it("has the columns of all records, in order of appearance", () => {
    expect(readRecords([{ a: 1 }, { b: 2, a: 3 }])?.columns).toEqual(["a", "b"]);
    expect(readRecords([{ a: 1, b: 2 }, null, { a: 3, b: 4 }])?.columns).toEqual(["a", "b"]);
  });

  it.each<[Json]>([
    [[]],
    [[1, 2]],
    [[{ a: 1 }, 2]],
    [[{}, {}]],
    [[null, null, { a: 1 }]],
    [{ a: 1 }],
    ["text"],
    [null],
  ])("is not %j", (value) => {
    expect(readRecords(value)).toBeNull();
  });

  it("is a table by default when its records are alike and plain", () => {
    const read = (list: Json) => readRecords(list)?.readsBetter;
    expect(
      read([
        { a: 1, b: 2 },
        { a: 3, b: 4 },
      ]),
    ).toBe(true);
    expect(read([{ a: 1, b: 2 }])).toBe(false);
    expect(read([{ a: 1 }, { a: 2 }])).toBe(false);
    expect(read([{ a: 1 }, { b: 2 }, { c: 3 }])).toBe(false);
    expect(
      read([
        { a: { x: 1 }, b: [1] },
        { a: { x: 2 }, b: [2] },
      ]),
    ).toBe(false);
  });

  it("is recognized quickly, however long it is", () => {
    const list = Array.from({ length: 10_000 }, (_, id) => ({ id, name: `record ${id}`, tags: ["a"] }));
    expect(readRecords(list)).toEqual({ columns: ["id", "name", "tags"], readsBetter: true });
  });
});
