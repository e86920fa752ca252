import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { YieldSlot } from "@/server/runs/engine/interruptions";
import { NamedSteps, ServerCall } from "./named-steps";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const never = () => new Promise<never>(() => {});
const refer = () => ({ status: "Completed", bytes: 2 }) as const;

function open({ before = 0, run = (_step: unknown, work: () => Promise<unknown>) => work() } = {}) {
  const names: string[] = [];
  const outputs: unknown[] = [];
  const call = new ServerCall();
  const tools = {
    async run(step: { name: string }, work: () => Promise<unknown>) {
      names.push(step.name);
      outputs.push(await run(step, work));
    },
    sleepUntil: never,
  };
  return { names, outputs, call, steps: new NamedSteps(tools, { call, before }) };
}

it("makes work a step, whose output refers to its result", async () => {
  const { steps, names, outputs } = open();
  expect(await steps.run({ id: "a", name: "model 1" }, async () => "ok", refer)).toBe("ok");
  expect([names, outputs]).toEqual([["model 1"], [{ status: "Completed", bytes: 2 }]]);
});

it("executes work within a step, also in parallel, without steps of their own", async () => {
  const { steps, names } = open();
  const inner = (name: string) => steps.run({ id: name, name }, async () => name, refer);
  const outer = () => Promise.all([inner("b"), inner("c")]);
  expect(await steps.run({ id: "a", name: "2 calls" }, outer, refer)).toEqual(["b", "c"]);
  await inner("d");
  expect(names).toEqual(["2 calls", "d"]);
});

it("throws what the work threw, while the server gets a failed step", async () => {
  const { steps, outputs } = open();
  const error = new TypeError("broken");
  await expect(steps.run({ id: "a", name: "a" }, () => Promise.reject(error), refer)).rejects.toBe(error);
  expect(outputs).toEqual([{ status: "Failed", bytes: 0 }]);
});

it("ends a call at the first checkpoint after 25 seconds, and never before a step has finished", () => {
  const { steps } = open();
  for (let called = 1; called <= 3; called += 1) {
    vi.advanceTimersByTime(60_000);
    steps.checkpoint(false);
  }
  vi.advanceTimersByTime(24_999);
  steps.checkpoint(true);
  vi.advanceTimersByTime(1);
  expect(() => steps.checkpoint(true)).toThrow(expect.objectContaining({ isCallOver: true }));
});

it("yields before the server ends the function because of its number of steps", async () => {
  const { steps } = open({ before: 899 });
  steps.checkpoint(false);
  await steps.run({ id: "a", name: "a" }, async () => 1, refer);
  const yielding = () => steps.checkpoint(false);
  expect(yielding).toThrow(expect.objectContaining({ name: "YieldSlot", isCallOver: false }));
});

it.each([
  ["took the steps: its next call continues", false],
  ["did not take them: the run gets a new hand-over", true],
])("ends with the SDK's response, if the server %s", async (_, hasLostServer) => {
  const { steps, call } = open({ run: never });
  const working = steps.run({ id: "a", name: "a" }, async () => 1, refer);
  call.hasLostServer = hasLostServer;
  const ended = call.end();
  const error = await working.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: "YieldSlot", isCallOver: !hasLostServer });
  expect(() => steps.checkpoint(false)).toThrow(YieldSlot);
  await ended;
});

it("returns the result of a step that ended with the response, so that the run may end", async () => {
  const { steps, call } = open({
    run: async (_step, work) => {
      await work();
      return never();
    },
  });
  const working = steps.run({ id: "a", name: "a" }, async () => 1, refer);
  await Promise.resolve();
  await call.end();
  expect(await working).toBe(1);
});
