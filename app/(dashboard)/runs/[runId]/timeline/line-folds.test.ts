import { expect, it } from "vitest";
import type { CallLine, StepLine } from "@/server/runs/read/inspect/lines";
import { callLine, stepLine } from "@/testing/run-lines";
import { chooseLine } from "../line-address";
import { type Line, lineFacts, lineId, linesOf, waitsOf, withWaits } from "../lines";
import { countIn, foldedAtFirst, foldLines, holdersOf, withGroups } from "./line-folds";
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
const outline = (lines: Line[]) => lines.map(({ depth, label }) => `${"  ".repeat(depth)}${label}`);

it("adds a line above a step's items with their totals", () => {
  const lines = toolRun(
    pages(3, (index) => (index === 1 ? { status: "Failed" } : {})),
    [call("page[0]/model-1-1", 1)],
  );
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
  expect(lineFacts(group)).toEqual({
    status: "Failed",
    startedAt: at(200),
    finishedAt: at(550),
    durationMs: 350,
  });
  expect(countIn(group, "Failed")).toBe(1);
  expect(amountOf(group, "credits", 0)).toBe(320);
  expect(amountOf(group, "tokens", 0)).toBe(12);
  expect(outline(foldLines(lines, new Set([lineId(group)])))).toEqual(["fetch", "page", "sum"]);
});

it("appears with the first item, so nothing moves at the second, and runs while any item runs", () => {
  expect(outline(toolRun(pages(1)))).toEqual(["fetch", "page", "  page[0]", "sum"]);
  const [, group] = toolRun(
    pages(2, (index) => (index === 1 ? { status: "Running", finishedAt: null } : {})),
  );
  expect(group && lineFacts(group)).toMatchObject({ status: "Running", finishedAt: null, durationMs: null });
});

it("folds large groups and unfolds small ones at first", () => {
  expect(foldedAtFirst(toolRun(pages(20))).size).toBe(0);
  const lines = toolRun(pages(21));
  expect(outline(foldLines(lines, foldedAtFirst(lines)))).toEqual(["fetch", "page", "sum"]);
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
  const lines = withGroups(linesOf(inspected, new Map([["child", child]])));
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
  expect(holdersOf(lines, "part[1]-id").map(lineId)).toEqual(["think-1-id", "child-group-1.part"]);
  expect(outline(foldLines(lines, new Set(["think-1-id"])))).toEqual([
    "Model call 1",
    "Model call 2",
    "  weather",
    "Model call 3",
  ]);
});

it("keeps a wait between folded items visible", () => {
  const lines = toolRun(pages(3));
  const waits = waitsOf({
    id: "run",
    createdAt: at(0),
    startedAt: at(0),
    turns: [{ from: at(310), to: at(390) }],
  });
  expect(outline(withWaits(foldLines(lines, new Set(["run-group-page"])), waits))).toEqual([
    "fetch",
    "page",
    "waited for a slot",
    "sum",
  ]);
});
