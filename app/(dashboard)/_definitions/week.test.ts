import { expect, test } from "vitest";
import type { WeekFigures } from "@/server/runs/read/metrics/week";
import { readSort, sortByWeek, weekColumns } from "./week";

const week = (figures: Partial<WeekFigures>): WeekFigures => ({
  runs: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
  open: 0,
  tokens: 0,
  credits: "0.0000",
  p50: null,
  p95: null,
  p50AtLeast: null,
  p95AtLeast: null,
  days: [],
  ...figures,
});
const LINES = [
  { name: "idle", week: null },
  { name: "often", week: week({ runs: 9, completed: 1, failed: 8, p95: 10, credits: "0.5000" }) },
  { name: "well", week: week({ runs: 2, completed: 2, p95: 90, credits: "12.0000" }) },
  { name: "open", week: week({ runs: 1, open: 1 }) },
];
const order = (sort: Parameters<typeof sortByWeek>[1]) => sortByWeek(LINES, sort).map(({ name }) => name);

test("lists the highest first and what has not run last", () => {
  expect(order(null)).toEqual(["idle", "often", "well", "open"]);
  expect(order("runs")).toEqual(["often", "well", "open", "idle"]);
  expect(order("success")).toEqual(["well", "often", "open", "idle"]);
  expect(order("p95")).toEqual(["well", "often", "open", "idle"]);
  expect(order("credits")).toEqual(["well", "often", "open", "idle"]);
});

test("each column leads to its order, and the sorted one back to the order by name", () => {
  expect(weekColumns("/agents", readSort("p95")).map(([, , sort]) => sort)).toEqual([
    { href: "/agents?sort=runs", sorted: false },
    { href: "/agents?sort=success", sorted: false },
    { href: "/agents", sorted: true },
    { href: "/agents?sort=credits", sorted: false },
  ]);
  expect(readSort("name")).toBeNull();
  expect(readSort(["runs", "p95"])).toBeNull();
});
