import { expect, test } from "vitest";
import { readTyped as readTypedIn } from "./read-typed";

const readTyped = (text: string, now?: Date) => readTypedIn(text, "UTC", now);

test("reads sizes with comparison and unit", () => {
  expect(readTyped("> 10 s")).toEqual([{ minDurationMs: 10_000 }]);
  expect(readTyped("under 1.5 minutes")).toEqual([{ maxDurationMs: 90_000 }]);
  expect(readTyped("at least 250ms")).toEqual([{ minDurationMs: 250 }]);
  expect(readTyped("<=500 tokens")).toEqual([{ maxTokens: 500 }]);
  expect(readTyped("over 0.5 credits")).toEqual([{ minCredits: "0.5" }]);
});

test("reads a pair of metadata", () => {
  expect(readTyped(" Customer = Acme & sons ")).toEqual([{ metadata: { Customer: "Acme & sons" } }]);
  expect(readTyped("order=42")).toEqual([{ metadata: { order: "42" } }]);
  expect(readTyped("order =")).toEqual([]);
});

test("offers every reading of an ambiguous text", () => {
  expect(readTyped("2 h")).toEqual([{ minDurationMs: 7_200_000 }, { maxDurationMs: 7_200_000 }]);
  expect(readTyped("> 20")).toEqual([{ minDurationMs: 20_000 }, { minTokens: 20 }, { minCredits: "20" }]);
  expect(readTyped("> 0.25")).toEqual([{ minDurationMs: 250 }, { minCredits: "0.25" }]);
});

test("days begin and end at midnight in the reader's time zone", () => {
  const begin = "2026-11-19T15:00:00.000Z";
  const end = "2026-11-20T15:00:00.000Z";
  const read = (text: string) => readTypedIn(text, "Asia/Tokyo");
  expect(read("2026-11-20")).toEqual([{ from: begin, to: end }, { from: begin }, { to: begin }]);
  expect(read("since 2026-11-20")).toEqual([{ from: begin }]);
  expect(read("until 2026-11-20")).toEqual([{ to: end }]);
  // Clocks go back: the day has 25 hours.
  expect(readTypedIn("on 2026-10-25", "Europe/Berlin")).toEqual([
    { from: "2026-10-24T22:00:00.000Z", to: "2026-10-25T23:00:00.000Z" },
  ]);
});

test("today is the day of the reader's time zone", () => {
  const now = new Date("2026-12-31T22:30:00.000Z");
  const since = (text: string) => readTypedIn(`since ${text}`, "Asia/Tokyo", now);
  expect(since("today")).toEqual([{ from: "2026-12-31T15:00:00.000Z" }]);
  expect(since("yesterday")).toEqual([{ from: "2026-12-30T15:00:00.000Z" }]);
  expect(since("jan 1")).toEqual([{ from: "2026-12-31T15:00:00.000Z" }]);
});

test("reads days by name; without a year, the most recent one", () => {
  const now = new Date("2026-11-21T15:30:00.000Z");
  const read = (text: string) => readTyped(text, now)[0];
  const day = (year: number, month: number, date: number) => ({
    from: new Date(Date.UTC(year, month - 1, date)).toISOString(),
    to: new Date(Date.UTC(year, month - 1, date + 1)).toISOString(),
  });
  expect(read("today")).toEqual(day(2026, 11, 21));
  expect(read("Yesterday")).toEqual(day(2026, 11, 20));
  expect(readTyped("since yesterday", now)).toEqual([{ from: "2026-11-20T00:00:00.000Z" }]);
  expect(readTyped("before today", now)).toEqual([{ to: "2026-11-21T00:00:00.000Z" }]);
  for (const text of ["nov 20", "Nov. 20", "20 november", "on nov 20, 2026"]) {
    expect(read(text), text).toEqual(day(2026, 11, 20));
  }
  expect(read("dec 24")).toEqual(day(2025, 12, 24));
  expect(read("1 mar 2024")).toEqual(day(2024, 3, 1));
  expect(readTyped("yesterday", new Date("2026-01-01T09:00:00.000Z"))[0]).toEqual(day(2025, 12, 31));
});

test("reads the last N days, hours or minutes exactly", () => {
  const now = new Date("2026-11-21T15:30:00.000Z");
  const since = (text: string) => readTyped(text, now);
  expect(since("last 3 days")).toEqual([{ from: "2026-11-18T15:30:00.000Z" }]);
  expect(since("last 45 min")).toEqual([{ from: "2026-11-21T14:45:00.000Z" }]);
  expect(since("the past 2 weeks")).toEqual([{ from: "2026-11-07T15:30:00.000Z" }]);
  expect(since("last 7 days")).toEqual([{ period: "7d" }]);
  expect(since("past 24 hours")).toEqual([{ period: "24h" }]);
  expect(since("last 60 minutes")).toEqual([{ period: "1h" }]);
});

test("ignores other texts", () => {
  for (const text of [
    "",
    "failed",
    "10 apples",
    "1.5 tokens",
    "2026-02-31",
    "nov 31",
    "june",
    "helper 20",
    "last 0 days",
    "last 3 apples",
    "> ",
    "99999999999999 s",
  ]) {
    expect(readTyped(text), text).toEqual([]);
  }
});
