import { expect, it } from "vitest";
import type { CallLine, StepLine } from "@/server/runs/inspect";
import { chooseLine, linesOf, runToUnfold } from "./timeline-lines";

const times = { startedAt: "2026-11-21T01:22:07.000Z", finishedAt: null, durationMs: null, sequence: 1 };

function step(number: number, key: string, more: Partial<StepLine> = {}): StepLine {
  return {
    id: `${key}-id`,
    key,
    number,
    iteration: 1,
    name: "calculate",
    status: "Completed",
    errorMessage: null,
    attempts: 1,
    credits: "0.0100",
    childRunId: null,
    childCredits: null,
    ...times,
    ...more,
  };
}

function call(key: string, iteration: number, asked: number): CallLine {
  const tokens = { inputTokens: 1, outputTokens: 1, estimated: false, credits: "0.0000" };
  return {
    id: `${key}-id`,
    key,
    iteration,
    model: "m",
    provider: "p",
    status: "Completed",
    asked,
    ...tokens,
    ...times,
  };
}

const agent = {
  run: { id: "agent-run", kind: "agent" as const, status: "Completed" as const },
  steps: [step(1, "call-1-1", { name: "weather", childRunId: "child" }), step(2, "call-1-2")],
  calls: [call("think-2", 2, 0), call("think-1", 1, 2)],
};
const child = {
  run: { id: "child", kind: "tool" as const },
  steps: [step(1, "fetch", { name: "http_request" }), step(2, "note", { name: "generate_text" })],
  calls: [call("note/model-1-1", 1, 0)],
};

it("puts the thinking before its steps, and calls steps of an agent by what the model called", () => {
  expect(linesOf(agent).map(({ slug, label, depth }) => [slug, label, depth])).toEqual([
    ["think-1", "think", 0],
    ["1", "weather", 1],
    ["2", "calculate", 1],
    ["think-2", "answer", 0],
  ]);
});

it("puts the lines of an unfolded run below the step that started it, under the names of its definition", () => {
  const lines = linesOf(agent, new Map([["child", child]]));
  expect(lines.map(({ slug, label, depth, runId }) => [slug, label, depth, runId])).toEqual([
    ["think-1", "think", 0, "agent-run"],
    ["1", "weather", 1, "agent-run"],
    ["1.1", "fetch", 2, "child"],
    ["1.2", "note", 2, "child"],
    ["1.note/model-1-1", "model", 3, "child"],
    ["2", "calculate", 1, "agent-run"],
    ["think-2", "answer", 0, "agent-run"],
  ]);
  expect(chooseLine(lines, { step: "1.2" }, agent.run)).toMatchObject({ runId: "child", label: "note" });
  expect(chooseLine(lines, { call: "1.note/model-1-1" }, agent.run)).toMatchObject({ kind: "call" });
});

it("knows which run the address leads into", () => {
  expect(runToUnfold({ step: "1.2" }, agent.steps)).toBe("child");
  expect(runToUnfold({ call: "1.note/model-1-1" }, agent.steps)).toBe("child");
  expect(runToUnfold({ step: "2.1" }, agent.steps)).toBeNull();
  expect(runToUnfold({ step: "1" }, agent.steps)).toBeNull();
});
