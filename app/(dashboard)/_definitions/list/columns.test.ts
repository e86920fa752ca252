import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import type { WeekFigures } from "@/server/runs/read/metrics/metrics";
import { listHref, readListView, viewLines, type WeekSort, weekColumns } from "./columns";
import { WeekTotal } from "./week-total";

const week = (figures: Partial<WeekFigures>): WeekFigures => ({
  runs: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
  open: 0,
  tokens: 0,
  children: 0,
  drafts: 0,
  credits: "0.0000",
  creditsWithChildren: figures.credits ?? "0.0000",
  draftCredits: "0.0000",
  p50: null,
  p95: null,
  p50AtLeast: null,
  p95AtLeast: null,
  days: [],
  ...figures,
});
const LINES = [
  { name: "idle", slug: "the-idle", week: null },
  {
    name: "often",
    slug: "the-often",
    week: week({ runs: 9, completed: 1, failed: 8, p95: 10, credits: "0.5000" }),
  },
  { name: "well", slug: "the-well", week: week({ runs: 2, completed: 2, p95: 90, credits: "12.0000" }) },
  { name: "open", slug: "the-open", week: week({ runs: 1, open: 1 }) },
];
const order = (sort: WeekSort | null, search = "") =>
  viewLines(LINES, { sort, search }).map(({ name }) => name);

test("lists the highest first and what has not run last", () => {
  expect(order(null)).toEqual(["idle", "often", "well", "open"]);
  expect(order("runs")).toEqual(["often", "well", "open", "idle"]);
  expect(order("success")).toEqual(["well", "often", "open", "idle"]);
  expect(order("p95")).toEqual(["well", "often", "open", "idle"]);
  expect(order("credits")).toEqual(["well", "often", "open", "idle"]);
});

test("each column leads to its order, and the sorted one back to the order by name", () => {
  expect(weekColumns("/agents", readListView({ sort: "p95" })).map((column) => column.sort)).toEqual([
    { href: "/agents?sort=runs", sorted: false },
    { href: "/agents?sort=success", sorted: false },
    { href: "/agents", sorted: true },
    { href: "/agents?sort=credits", sorted: false },
  ]);
  expect(readListView({ sort: "name" }).sort).toBeNull();
  expect(readListView({ sort: ["runs", "p95"] }).sort).toBeNull();
});

test("words narrow a list by name and slug, and stay in the URL", () => {
  expect(order(null, "OPEN")).toEqual(["open"]);
  expect(order("runs", "the- e")).toEqual(["often", "well", "open", "idle"]);
  expect(order(null, "often idle")).toEqual([]);
  expect(listHref("/tools", { sort: "runs", search: "a b" })).toBe("/tools?sort=runs&q=a+b");
  expect(readListView({ q: "a b", sort: "runs" })).toEqual({ sort: "runs", search: "a b" });
});

test("the cost of a line is with its child runs, beside its own", () => {
  const caller = week({ runs: 1, credits: "1.0000", creditsWithChildren: "14.0000" });
  const lines = [...LINES, { name: "caller", slug: "caller", week: caller }];
  expect(viewLines(lines, { sort: "credits", search: "" })[0]?.name).toBe("caller");
  const column = weekColumns("/agents", readListView({})).find(({ head }) => head === "Credits, 7 d");
  const textOf = (of: WeekFigures) =>
    renderToStaticMarkup(createElement("td", null, column?.cell({ week: of }))).replace(/<[^>]+>/g, "|");
  expect(textOf(caller)).toMatch(/\|14\.00\|+1\.00 own\|/);
  expect(textOf(week({ runs: 1, credits: "1.0000" }))).not.toContain("own");
  const total = renderToStaticMarkup(createElement(WeekTotal, { lines }));
  // A child run may be one of another line, so the sum has each run's own credits.
  expect(total).toContain("13.50");
  expect(total).toContain("Own use. Most by caller");
});

test("sums the items' figures, and names the item that stands out in each", () => {
  const textOf = (lines: typeof LINES) =>
    renderToStaticMarkup(createElement(WeekTotal, { lines })).replace(/<[^>]+>/g, "|");
  const all = textOf(LINES);
  for (const part of ["|12|", "8 of 8 failures by often", "27.3%", "|well|", "|12.50|", "Most by well"])
    expect(all).toContain(part);
  const none = textOf(LINES.slice(0, 1));
  for (const part of ["None yet", "No failures", "No ended run", "Nothing used"])
    expect(none).toContain(part);
});
