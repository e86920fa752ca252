import { expect, test } from "vitest";
import type { RunSummary } from "@/server/runs/read/list";
import { runLines } from "./run-lines";

const run = (id: string, children = 0): RunSummary => ({
  id,
  kind: "tool",
  status: "Completed",
  targetId: "t",
  targetName: "Adder",
  targetVersion: 1,
  model: null,
  source: "run",
  sourceName: null,
  inputPreview: "{}",
  errorPreview: null,
  children,
  steps: 0,
  tokens: 0,
  credits: "0.0000",
  creditsWithChildren: "0.0000",
  createdAt: "2026-11-26T00:00:00.000Z",
  startedAt: null,
  finishedAt: null,
  waiting: false,
  cancelRequested: false,
  sequence: 1,
});

test("opened runs are followed by their child runs, at any depth", () => {
  const roots = [run("a", 2), run("b", 1), run("c")];
  const open = new Map([
    ["a", [run("a1", 1), run("a2")]],
    ["a1", [run("a11")]],
  ]);
  const lines = runLines(roots, open).map(({ id, depth, opened }) => [id, depth, opened]);
  expect(lines).toEqual([
    ["a", 0, true],
    ["a1", 1, true],
    ["a11", 2, null],
    ["a2", 1, null],
    ["b", 0, false],
    ["c", 0, null],
  ]);
  // The children of a run that was closed stay closed with it.
  open.delete("a");
  expect(runLines(roots, open).map(({ id }) => id)).toEqual(["a", "b", "c"]);
  expect(runLines(roots, null).map(({ opened }) => opened)).toEqual([null, null, null]);
});
