import { expect, it } from "vitest";
import { clipLines } from "./clip-lines";
import type { DiffLine } from "./diff";

const line = (kind: DiffLine["kind"], text: string): DiffLine => ({ kind, text });

it("keeps short lines and gaps unchanged", () => {
  const lines = [line("same", "a"), line("left", "b"), null, line("right", "")];
  expect(clipLines(lines)).toEqual(lines.map((each) => each && { ...each, before: 0, after: 0 }));
});

it("shows the part of long lines where they differ", () => {
  const start = "x".repeat(50_000);
  const [left, right] = clipLines([
    line("left", `${start}old${start}`),
    line("right", `${start}new${start}`),
  ]);
  expect(left?.text.indexOf("old")).toBe(100);
  expect(right?.text.indexOf("new")).toBe(100);
  expect(right).toMatchObject({ before: 49_900, after: 49_103 });
  expect(right?.text).toHaveLength(1_000);
});

it("pairs the lines of a change in order, and shows the start of an unpaired one", () => {
  const long = (letter: string) => letter.repeat(2_000);
  const shown = clipLines([
    line("left", `${long("a")}1`),
    line("left", `${long("b")}`),
    line("right", `${long("a")}2`),
  ]);
  expect(shown.map((each) => each?.before)).toEqual([1_001, 0, 1_001]);
});

it("never splits a character", () => {
  const text = "🙂".repeat(1_000);
  const [shown] = clipLines([line("left", `a${text}`)]);
  expect(shown?.text.isWellFormed()).toBe(true);
});

it("marks the words that the other line lacks", () => {
  const [left, right] = clipLines([
    line("left", "refund up to 500 EUR"),
    line("right", "refund up to 100 EUR"),
  ]);
  expect(left?.pieces).toEqual([
    { text: "refund up to ", changed: false },
    { text: "500", changed: true },
    { text: " EUR", changed: false },
  ]);
  expect(right?.pieces?.filter(({ changed }) => changed)).toEqual([{ text: "100", changed: true }]);
  const [other] = clipLines([line("left", "entirely new"), line("right", "something else")]);
  expect(other?.pieces).toBeUndefined();
});
