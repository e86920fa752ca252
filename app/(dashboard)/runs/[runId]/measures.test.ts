import { expect, it } from "vitest";
import type { CallLine, StepLine } from "@/server/runs/read/inspect/lines";
import { callLine, stepLine } from "@/testing/run-lines";
import { linesOf, type WorkLine, waitsOf } from "./lines";
import { amountOf, creditShares, fromCreditUnits, largestLine, timeShares } from "./measures";

const at = (ms: number) => new Date(1_000_000 + ms).toISOString();

function lineOf(work: { steps?: StepLine[]; calls?: CallLine[] }): WorkLine {
  const [line] = linesOf({ run: { id: "run", kind: "tool" }, steps: [], calls: [], ...work });
  if (!line) throw new Error("There is no line.");
  return line;
}

function step(number: number, [from, to]: [number, number | null], more: object = {}): WorkLine {
  const line = stepLine(`part[${number}]`, {
    number,
    status: to === null ? "Running" : "Completed",
    startedAt: at(from),
    finishedAt: to === null ? null : at(to),
    durationMs: to === null ? null : to - from,
    ...more,
  });
  return lineOf({ steps: [line] });
}

function call(key: string, [from, to]: [number, number]): WorkLine {
  const times = { startedAt: at(from), finishedAt: at(to), durationMs: to - from };
  const line = callLine(key, { inputTokens: 100, outputTokens: 20, credits: "0.1505", ...times });
  return lineOf({ calls: [line] });
}

const run = { start: 1_000_000, end: 1_001_000, now: 1_001_000 };

it("counts parallel time once, the model first, and the idle time", () => {
  const lines = [
    call("think-1", [100, 400]),
    step(1, [400, 600]),
    step(2, [450, 700]),
    call("step/model-1-1", [650, 700]),
  ];
  expect(timeShares(lines, [], run)).toEqual({ model: 350, steps: 250, waited: 0, idle: 400 });
});

it("separates waiting for a slot from other gaps, without the wait before the start", () => {
  const lines = [step(1, [100, 400]), step(2, [900, 950])];
  const turns = [
    { from: at(350), to: at(600) },
    { from: at(650), to: at(900) },
  ];
  const waits = waitsOf({ id: "run", createdAt: at(-5_000), startedAt: at(0), turns }, []);
  expect(timeShares(lines, waits, run)).toEqual({ model: 0, steps: 350, waited: 450, idle: 200 });
});

it("measures a running line until now", () => {
  const all = { model: 0, steps: 1_000, waited: 0, idle: 0 };
  expect(timeShares([step(1, [0, null])], [], run)).toEqual(all);
  expect(amountOf(step(1, [400, null]), "time", 1_001_000)).toBe(600);
});

it("adds credits exactly, including those of child runs", () => {
  const lines = [
    call("think-1", [0, 1]),
    call("think-2", [1, 2]),
    step(1, [2, 3], { childCredits: "0.0300" }),
    ...Array.from({ length: 10 }, (_, n) => step(n + 2, [3, 4])),
  ];
  const { model, actions, started } = creditShares(lines);
  expect([model, actions, started].map(fromCreditUnits)).toEqual(["0.3010", "0.1100", "0.0300"]);
  expect(largestLine(lines, "credits", 0)?.slug).toBe("think-1");
  expect(amountOf(call("think-1", [0, 1]), "tokens", 0)).toBe(120);
});

it("names the slowest line: a step, not the model call inside it", () => {
  const lines = [step(1, [0, 500]), call("part[1]/model-1-1", [10, 490]), step(2, [500, 600])];
  expect(largestLine(lines, "time", 0)?.slug).toBe("1");
  expect(largestLine([step(1, [0, 5])], "time", 0)).toBeNull();
  expect(largestLine(lines, "tokens", 0)?.slug).toBe("part[1]/model-1-1");
});
