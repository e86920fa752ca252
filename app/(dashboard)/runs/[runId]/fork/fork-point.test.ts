import { expect, it } from "vitest";
import { callLine, stepLine } from "@/testing/run-lines";
import { workRowsOf } from "../lines";
import { forkPointOf } from "./fork-point";

const own = workRowsOf({
  run: { id: "run", kind: "agent" },
  calls: [
    callLine("think-1", { iteration: 1, asked: 2 }),
    callLine("think-2", { iteration: 2 }),
    callLine("think-3", { iteration: 3, asked: 1 }),
    callLine("call-3-1/model-1-1", { iteration: 3 }),
    callLine("think-4", { iteration: 4 }),
  ],
  steps: [
    stepLine("call-1-1", { number: 1, iteration: 1 }),
    stepLine("call-1-2", { number: 2, iteration: 1, status: "Skipped" }),
    stepLine("call-3-1", { number: 3, iteration: 3 }),
  ],
});

it.each([
  ["think-1", 1, false, "model call 1"],
  // An invalid answer, after which another call asked for a step.
  ["think-2", 3, false, "invalid answer"],
  ["call-1-1", 1, true, "step 1, calculate"],
  ["call-1-2", 2, false, "step 2, calculate"],
  ["call-3-1/model-1-1", 3, false, "model call"],
  ["think-4", 4, false, "answer"],
])("a fork from %s begins at step %d", (key, fromStep, hasStep, name) => {
  const line = own.find((each) => (each.kind === "step" ? each.step.key : each.call.key) === key);
  if (line === undefined) throw new Error(`there is no line ${key}`);
  const point = forkPointOf(line, own);
  expect(point).toMatchObject({ fromStep, name });
  expect(point.step !== null).toBe(hasStep);
});
