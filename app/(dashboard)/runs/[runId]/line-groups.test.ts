import { expect, it } from "vitest";
import type { CallLine, StepLine } from "@/server/runs/read/inspect/lines";
import { callLine, stepLine } from "@/testing/run-lines";
import { chooseLine } from "./line-address";
import { holdersOf, linesOf, type Row, rowsOf, startsFolded, waitsOf, withGroups, withWaits } from "./lines";
import { amountOf } from "./measures";

const at = (ms: number) => new Date(Date.parse("2026-11-21T01:22:07.000Z") + ms).toISOString();

const step = (number: number, key: string, more: Partial<StepLine> = {}) =>
  stepLine(key, {
    number,
    startedAt: at(number * 100),
    finishedAt: at(number * 100 + 150),
    durationMs: 150,
    ...more,
  });
const call = (key: string, iteration: number) =>
  callLine(key, {
    iteration,
    asked: 1,
    inputTokens: 10,
    outputTokens: 2,
    credits: "0.0020",
    startedAt: at(0),
    finishedAt: at(90),
    durationMs: 90,
  });

const pages = (count: number, more: (index: number) => Partial<StepLine> = () => ({})) =>
  Array.from({ length: count }, (_, index) => step(index + 2, `page[${index}]`, more(index)));

const toolRun = (items: StepLine[], calls: CallLine[] = []) =>
  withGroups(
    linesOf({
      run: { id: "run", kind: "tool" },
      steps: [step(1, "fetch"), ...items, step(items.length + 2, "sum")],
      calls,
    }),
  );
const rows = (items: StepLine[], calls?: CallLine[]) => rowsOf(toolRun(items, calls));
const outline = (lines: Row[]) => lines.map(({ depth, label }) => `${"  ".repeat(depth)}${label}`);

it("adds a line above a step's items with their totals", () => {
  const tree = toolRun(
    pages(3, (index) => (index === 1 ? { status: "Failed" } : {})),
    [call("page[0]/model-1-1", 1)],
  );
  const lines = rowsOf(tree);
  expect(outline(lines)).toEqual([
    "fetch",
    "page",
    "  page[0]",
    "    Model call",
    "  page[1]",
    "  page[2]",
    "sum",
  ]);
  const group = lines[1];
  if (group?.kind !== "group") throw new Error("There is no group.");
  expect(group).toMatchObject({
    status: "Failed",
    startedAt: at(200),
    finishedAt: at(550),
    durationMs: 350,
  });
  expect(group.holds?.filter(({ status }) => status === "Failed")).toHaveLength(1);
  expect(amountOf(group, "credits", 0)).toBe(320);
  expect(amountOf(group, "tokens", 0)).toBe(12);
  expect(outline(rowsOf(tree, new Set([group.id])))).toEqual(["fetch", "page", "sum"]);
});

it("appears with the first item, so nothing moves at the second, and runs while any item runs", () => {
  expect(outline(rows(pages(1)))).toEqual(["fetch", "page", "  page[0]", "sum"]);
  const [, group] = rows(pages(2, (index) => (index === 1 ? { status: "Running", finishedAt: null } : {})));
  expect(group).toMatchObject({ status: "Running", finishedAt: null, durationMs: null });
});

it("folds large groups and unfolds small ones at first", () => {
  expect(toolRun(pages(20)).some(startsFolded)).toBe(false);
  const lines = toolRun(pages(21));
  expect(lines.filter(startsFolded).map(({ label }) => label)).toEqual(["page"]);
  // A page that begins with such a step opens on the group, not on an item.
  const [, ...rest] = lines;
  expect(chooseLine(rest, {}, { id: "run", status: "Completed" })?.kind).toBe("group");
});

it("folds the steps of a model call, and finds the group of a line", () => {
  const child = {
    run: { id: "child", kind: "tool" as const },
    steps: [step(1, "part[0]"), step(2, "part[1]")],
    calls: [],
  };
  const steps = [
    step(1, "call-1-1", { name: "weather", childRunId: "child" }),
    step(2, "call-2-1", { iteration: 2, name: "weather" }),
  ];
  const inspected = {
    run: { id: "run", kind: "agent" as const },
    steps,
    calls: [call("think-1", 1), call("think-2", 2), call("think-3", 3)],
  };
  const tree = withGroups(linesOf(inspected, { runs: new Map([["child", child]]), attempts: new Set() }));
  const lines = rowsOf(tree);
  expect(outline(lines)).toEqual([
    "Model call 1",
    "  weather",
    "    part",
    "      part[0]",
    "      part[1]",
    "Model call 2",
    "  weather",
    "Model call 3",
  ]);
  expect(lines.map(({ holds }) => holds?.length)).toEqual([
    3,
    undefined,
    2,
    undefined,
    undefined,
    1,
    undefined,
    undefined,
  ]);
  expect(holdersOf(tree, "part[1]-id")?.map(({ id }) => id)).toEqual(["think-1-id", "child-group-1.part"]);
  expect(outline(rowsOf(tree, new Set(["think-1-id"])))).toEqual([
    "Model call 1",
    "Model call 2",
    "  weather",
    "Model call 3",
  ]);
});

it("keeps a wait between folded items visible", () => {
  const lines = rowsOf(toolRun(pages(3)), new Set(["run-group-page"]));
  const turns = [{ from: at(310), to: at(390) }];
  const waits = waitsOf({ id: "run", createdAt: at(0), startedAt: at(0), turns }, []);
  expect(outline(withWaits(lines, waits))).toEqual(["fetch", "page", "waited for a slot", "sum"]);
});
