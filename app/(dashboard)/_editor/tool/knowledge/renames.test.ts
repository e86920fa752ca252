import { expect, it } from "vitest";
import { addRename, NO_RENAMES, presentName, type Renames } from "./renames";

const renamed = (from: Renames, ...pairs: [from: string, to: string][]) =>
  pairs.reduce((renames, [name, to]) => addRename(renames, name, to), from);

it("gives the steps of an earlier run their present names", () => {
  const renames = renamed(NO_RENAMES, ["fetch", "orders"], ["late", "overdue"]);
  expect(["fetch", "late", "other"].map((step) => presentName(renames, "r1", step))).toEqual([
    "orders",
    "overdue",
    "other",
  ]);
});

it("leaves other steps alone whose name was typed on the way", () => {
  const typed = renamed(NO_RENAMES, ["a", "b"], ["b", "b2"]);
  expect(presentName(typed, "r1", "a")).toBe("b2");
  expect(presentName(typed, "r1", "b")).toBe("b");
});

it("follows two steps that exchange their names", () => {
  const renames = renamed(NO_RENAMES, ["a", "x"], ["b", "a"], ["x", "b"]);
  expect(["a", "b"].map((step) => presentName(renames, "r1", step))).toEqual(["b", "a"]);
});

it("applies to a run only the renames after its start", () => {
  const before = renamed(NO_RENAMES, ["a", "b"]);
  const started = { ...before, final: 1, marks: new Map([["r2", 1]]) };
  const renames = renamed(started, ["b", "c"]);
  expect(presentName(renames, "r1", "a")).toBe("c");
  expect(presentName(renames, "r2", "a")).toBe("a");
  expect(presentName(renames, "r2", "b")).toBe("c");
});
