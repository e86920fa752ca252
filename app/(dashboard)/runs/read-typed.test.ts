import { expect, test } from "vitest";
import { readTyped } from "./read-typed";

test("sizes are read with their comparison and unit", () => {
  expect(readTyped("> 10 s")).toEqual([{ minDurationMs: 10_000 }]);
  expect(readTyped("under 1.5 minutes")).toEqual([{ maxDurationMs: 90_000 }]);
  expect(readTyped("at least 250ms")).toEqual([{ minDurationMs: 250 }]);
  expect(readTyped("<=500 tokens")).toEqual([{ maxTokens: 500 }]);
  expect(readTyped("over 0.5 credits")).toEqual([{ minCredits: "0.5" }]);
});

test("what is left open is offered in every reading", () => {
  expect(readTyped("2 h")).toEqual([{ minDurationMs: 7_200_000 }, { maxDurationMs: 7_200_000 }]);
  expect(readTyped("> 20")).toEqual([{ minDurationMs: 20_000 }, { minTokens: 20 }, { minCredits: "20" }]);
  expect(readTyped("> 0.25")).toEqual([{ minDurationMs: 250 }, { minCredits: "0.25" }]);
});

test("days begin and end at the reader's midnight", () => {
  const begin = new Date(2026, 10, 20).toISOString();
  const end = new Date(2026, 10, 21).toISOString();
  expect(readTyped("2026-11-20")).toEqual([{ from: begin, to: end }, { from: begin }, { to: begin }]);
  expect(readTyped("since 2026-11-20")).toEqual([{ from: begin }]);
  expect(readTyped("until 2026-11-20")).toEqual([{ to: end }]);
});

test("other texts say nothing", () => {
  for (const text of ["", "failed", "10 apples", "1.5 tokens", "2026-02-31", "> ", "99999999999999 s"]) {
    expect(readTyped(text), text).toEqual([]);
  }
});
