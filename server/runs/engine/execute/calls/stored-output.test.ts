import { expect, it } from "vitest";
import type { RunKind } from "@/server/contract/enums";
import { MIB } from "@/server/contract/sizes";
import { limitOutput } from "./perform-step";

/** `own` and `others` are stored outputs in MiB, of this run and of those in progress. */

const TEXT = JSON.stringify("x".repeat(MIB / 2));
function store(kind: RunKind, own: number, ...others: number[]) {
  const journal = { bytes: { outputs: own * MIB } };
  const journals = [journal, ...others.map((mib) => ({ bytes: { outputs: mib * MIB } }))];
  return limitOutput({ run: { kind }, journal, tree: { journals } }, { text: TEXT });
}

it("stores an output that fits", () => {
  expect(store("tool", 15, 48)).toEqual({ text: TEXT });
  expect(store("agent", 15, 48)).toEqual({ text: TEXT });
});

it("fails a tool's step when the runs in progress have too much together", () => {
  expect(store("tool", 4, 30, 29.8)).toEqual({
    code: "output_too_large",
    error: "The outputs of a run and of the runs in progress that it calls are larger than 64 MiB together.",
  });
});

it.each([
  ["its own run has", [15.8]],
  ["the runs in progress have", [2, 61.8]],
])("gives an agent a preview when %s too much", (_name, [own = 0, ...others]) => {
  const stored = store("agent", own, ...others);
  expect(JSON.parse("text" in stored ? stored.text : "")).toMatchObject({ truncated: true });
});
