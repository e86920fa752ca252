import { expect, it } from "vitest";
import type { RunKind } from "@/server/contract/enums";
import { MIB } from "@/server/contract/sizes";
import { storedOutput } from "./perform-step";

/** `own` and `others` are stored outputs in MiB, of this run and of those in progress. */

const TEXT = "x".repeat(MIB / 2);
function store(kind: RunKind, own: number, ...others: number[]) {
  const journal = { bytes: { outputs: own * MIB } };
  const journals = [journal, ...others.map((mib) => ({ bytes: { outputs: mib * MIB } }))];
  return storedOutput({ run: { kind }, journal, tree: { journals } }, TEXT);
}

it("stores an output that fits", async () => {
  expect(await store("tool", 15, 48)).toEqual({ text: JSON.stringify(TEXT) });
  expect(await store("agent", 15, 48)).toEqual({ text: JSON.stringify(TEXT) });
});

it("fails a tool's step when the runs in progress have too much together", async () => {
  expect(await store("tool", 4, 30, 29.8)).toEqual({
    code: "output_too_large",
    error: "The outputs of a run and of the runs in progress that it calls are larger than 64 MiB together.",
  });
});

it.each([
  ["its own run has", [15.8]],
  ["the runs in progress have", [2, 61.8]],
])("gives an agent a preview when %s too much", async (_name, [own = 0, ...others]) => {
  const stored = await store("agent", own, ...others);
  expect(JSON.parse("text" in stored ? stored.text : "")).toMatchObject({ truncated: true });
});
