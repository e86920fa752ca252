import { expect, test } from "vitest";
import { changedFields } from "@/server/base/audit";

test("lists only what differs", () => {
  expect(changedFields({ a: 1, b: [1], c: "x" }, { a: 1, b: [1, 2], c: "x" })).toEqual({
    b: { from: [1], to: [1, 2] },
  });
  expect(changedFields({ a: 1 }, { a: 1 })).toEqual({});
});

test("a new object has no earlier values, and a missing field counts as null", () => {
  expect(changedFields(null, { a: 1, b: null })).toEqual({ a: { from: null, to: 1 } });
  expect(changedFields({ a: 1 }, {})).toEqual({ a: { from: 1, to: null } });
});

test("long texts are cut", () => {
  const changes = changedFields({ prompt: "a" }, { prompt: "b".repeat(10_000) });
  expect(JSON.stringify(changes).length).toBeLessThan(700);
  expect(JSON.stringify(changes)).toContain("(10000 characters)");
});
