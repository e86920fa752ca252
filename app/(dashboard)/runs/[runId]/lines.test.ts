import { expect, it } from "vitest";
import type { StepLine } from "@/server/runs/read/inspect/lines";
import { callLine, stepLine } from "@/testing/run-lines";
import {
  attemptsToUnfold,
  chooseLine,
  describeAddress,
  readLineAddress,
  runToUnfold,
  writeLineAddress,
} from "./line-address";
import { hasFailed, linesOf, rowsOf, type Unfolded, waitsOf, withWaits } from "./lines";

type Inspected = Parameters<typeof linesOf>[0];
const rows = (inspected: Inspected, { runs = new Map(), attempts = new Set() }: Partial<Unfolded> = {}) =>
  rowsOf(linesOf(inspected, { runs, attempts }));
const step = (number: number, key: string, more: Partial<StepLine> = {}) =>
  stepLine(key, { number, ...more });
const call = (key: string, iteration: number, asked: number) => callLine(key, { iteration, asked });

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

it("puts a model call before its steps, and names an agent's steps by what the model called", () => {
  expect(rows(agent).map(({ slug, label, depth }) => [slug, label, depth])).toEqual([
    ["think-1", "Model call 1", 0],
    ["1", "weather", 1],
    ["2", "calculate", 1],
    ["think-2", "Answer", 0],
  ]);
});

it("separates the answer from earlier ones that did not match the output schema", () => {
  const calls = [call("think-1", 1, 0), call("think-2", 2, 0)];
  expect(rows({ ...agent, steps: [], calls }).map(({ label }) => label)).toEqual([
    "Invalid answer",
    "Answer",
  ]);
});

it("puts a child run's lines below its step, named by its definition", () => {
  const lines = rows(agent, { runs: new Map([["child", child]]) });
  expect(lines.map(({ slug, label, depth, runId }) => [slug, label, depth, runId])).toEqual([
    ["think-1", "Model call 1", 0, "agent-run"],
    ["1", "weather", 1, "agent-run"],
    ["1.1", "fetch", 2, "child"],
    ["1.2", "note", 2, "child"],
    ["1.note/model-1-1", "Model call", 3, "child"],
    ["2", "calculate", 1, "agent-run"],
    ["think-2", "Answer", 0, "agent-run"],
  ]);
  expect(chooseLine(lines, { step: "1.2" }, agent.run)).toMatchObject({ runId: "child", label: "note" });
  expect(chooseLine(lines, { call: "1.note/model-1-1" }, agent.run)).toMatchObject({ kind: "call" });
});

it("finds the run that the address opens", () => {
  expect(runToUnfold({ step: "1.2" }, agent.steps)).toBe("child");
  expect(runToUnfold({ call: "1.note/model-1-1" }, agent.steps)).toBe("child");
  expect(runToUnfold({ group: "1.part" }, agent.steps)).toBe("child");
  expect(runToUnfold({ step: "2.1" }, agent.steps)).toBeNull();
  expect(runToUnfold({ step: "1" }, agent.steps)).toBeNull();
});

const second = (n: number) => new Date(Date.UTC(2026, 10, 21, 1, 22) + n * 1_000).toISOString();
const tried = { startedAt: second(1), durationMs: 500, error: "busy", retryAt: second(3) };

it("puts attempts below their line, the upcoming one last", () => {
  const steps = [step(1, "fetch", { status: "Running", attempts: [tried] }), step(2, "note")];
  const lines = rows({ run: child.run, steps, calls: [] }, { attempts: new Set(["1"]) });
  expect(lines.map(({ kind, label, depth }) => [kind, label, depth])).toEqual([
    ["step", "fetch", 0],
    ["attempt", "attempt 1", 1],
    ["attempt", "attempt 2", 1],
    ["step", "note", 0],
  ]);
  expect(lines[1]).toMatchObject({ attempt: { status: "Failed", finishedAt: second(1.5), error: "busy" } });
  expect(lines[2]).toMatchObject({ attempt: { status: "Running", startedAt: second(3), finishedAt: null } });
});

it("puts waits before the lines that follow them, a current wait at the end", () => {
  const times = { createdAt: second(0), startedAt: second(2) };
  const turns = [
    { from: second(4), to: second(6) },
    { from: second(8), to: null },
  ];
  const waits = waitsOf({ id: "child", ...times, turns }, []);
  const steps = [step(1, "fetch", { startedAt: second(2) }), step(2, "note", { startedAt: second(6) })];
  const lines = withWaits(rows({ run: child.run, steps, calls: [] }), waits);
  expect(lines.map(({ slug }) => slug)).toEqual(["queue", "1", "turn-1", "2", "turn-2"]);
  expect(chooseLine(lines, {}, { id: "child", status: "Running" })?.slug).toBe("turn-2");
  expect(chooseLine(lines, {}, { id: "child", status: "Completed" })?.slug).toBe("1");
  expect(waitsOf({ id: "child", ...times, startedAt: second(0.9), turns: [] }, [])).toEqual([]);
});

it("does not show the time of a wait step as a wait for a slot", () => {
  const turns = [
    { from: second(4), to: second(6) },
    { from: second(8), to: null },
  ];
  const run = { id: "child", createdAt: second(0), startedAt: second(0), turns };
  const asleep = { name: "wait", startedAt: second(3), finishedAt: second(6) };
  const slugs = (...steps: Parameters<typeof waitsOf>[1]) => waitsOf(run, steps).map(({ slug }) => slug);
  expect(slugs(asleep)).toEqual(["turn-2"]);
  expect(slugs(asleep, { ...asleep, startedAt: second(7), finishedAt: null })).toEqual([]);
  expect(slugs({ ...asleep, name: "http_request" })).toEqual(["turn-1", "turn-2"]);
});

it("gives every kind of line a unique address that leads back to it", () => {
  const attempts = [tried, { ...tried, error: null }];
  const steps = [step(1, "call-1-1", { attempts, startedAt: second(2) })];
  const run = { ...agent.run, createdAt: second(0), startedAt: second(2), turns: [] };
  const work = rows({ run, steps, calls: [call("think-1", 1, 1)] }, { attempts: new Set(["1"]) });
  const lines = withWaits(work, waitsOf(run, steps));
  expect(lines).toHaveLength(5);
  for (const line of lines) {
    const query = new URLSearchParams("tab=both&step=9&attempt=9");
    writeLineAddress(query, line);
    expect(chooseLine(lines, readLineAddress(query), run)).toBe(line);
    expect(query.get("tab")).toBe("both");
  }
  expect(attemptsToUnfold({ step: "1", attempt: "2" })).toBe("1");
  expect(attemptsToUnfold({ step: "1" })).toBeNull();
});

it("describes in words what an address names, existing or not", () => {
  expect(describeAddress({ step: "999" })).toBe("step 999");
  expect(describeAddress({ call: "nope", attempt: "7" })).toBe("attempt 7 of model call nope");
  expect(describeAddress({ wait: "turn-3" })).toBe("wait turn-3");
  expect(describeAddress({})).toBeNull();
});

it("separates tolerated and cancelled lines from failures", () => {
  const failed = { status: "Failed", finishedAt: "2026-11-21T01:22:08.000Z" } as const;
  const steps = [
    step(1, "each[0]", { ...failed, tolerated: true }),
    step(2, "fetch", failed),
    step(3, "slow", { status: "Failed", interrupted: true }),
  ];
  const statuses = rows({ run: { id: "run", kind: "tool" }, steps, calls: [] }).map(({ status }) => status);
  expect(statuses).toEqual(["Tolerated", "Failed", "Cancelled"]);
  const lines = rows({ run: { id: "run", kind: "tool" }, steps: steps.slice(0, 1), calls: [] });
  expect(chooseLine(lines, {}, { id: "run", status: "Failed" })).toMatchObject({ slug: "1" });
  expect(lines.some(hasFailed)).toBe(false);
});

it("a model call that waits for its provider's limit is shown as waiting", () => {
  const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
  const waits = { startedAt: at(0), durationMs: 0, error: null, waited: true as const, retryAt: at(9_000) };
  const waiting = { ...call("think-1", 1, 1), status: "Running" as const, attempts: [waits] };
  const [line] = rows({ run: agent.run, steps: [], calls: [waiting] });
  expect(line).toMatchObject({
    status: "Waiting",
    attempts: [{ number: 1, status: "Waiting", finishedAt: null, error: null }],
  });
  const called = { ...waiting, attempts: [{ ...waits, durationMs: 9_000, retryAt: undefined }] };
  expect(rows({ run: agent.run, steps: [], calls: [called] })[0]).toMatchObject({
    status: "Running",
    attempts: [
      { status: "Waiting", finishedAt: at(9_000) },
      { number: 2, status: "Running" },
    ],
  });
});

it("counts a model call that a cancel interrupted as cancelled, and opens on it", () => {
  const run = { ...agent.run, status: "Cancelled" as const };
  const interrupted = callLine("think-2", { iteration: 2, status: "Failed", interrupted: true });
  const lines = rows({ run, steps: agent.steps, calls: [call("think-1", 1, 2), interrupted] });
  expect(lines.at(-1)).toMatchObject({ slug: "think-2", status: "Cancelled" });
  expect(chooseLine(lines, {}, run)).toMatchObject({ slug: "think-2" });
});
