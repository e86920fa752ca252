import { performance } from "node:perf_hooks";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { newId } from "@/server/base/ids";
import { mintOrgId } from "@/server/base/mint-org-id";
import { StepThrottle } from "./step-throttle";

const [one, other] = [mintOrgId(newId()), mintOrgId(newId())];

let utilization = 0;

beforeEach(() => {
  utilization = 1;
  vi.useFakeTimers({ toFake: ["setTimeout", "Date"] });
  vi.spyOn(performance, "now").mockImplementation(() => Date.now());
  vi.spyOn(performance, "eventLoopUtilization").mockImplementation(() => ({
    idle: 0,
    active: 0,
    utilization,
  }));
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function setUp(runs: number, starts = 1) {
  const throttle = new StepThrottle({ executing: () => runs, starting: () => starts });
  const started: string[] = [];
  const request = (name: string, org = one) => {
    const turn = throttle.next(org);
    if (turn === undefined) started.push(name);
    else void turn.then(() => started.push(name));
  };
  return { throttle, started, request };
}

describe("steps of runs", () => {
  it("begin at once while no start comes", () => {
    const { started, request } = setUp(100);
    request("a");
    expect(started).toEqual(["a"]);
  });

  it("begin at once beside starts while few runs execute", () => {
    const { throttle, started, request } = setUp(2);
    throttle.noteStart();
    request("a");
    expect(started).toEqual(["a"]);
  });

  it("begin at once beside a start and many runs that only wait", () => {
    const { throttle, started, request } = setUp(100);
    throttle.noteStart();
    request("a");
    expect(started).toEqual(["a"]);
  });

  it("wait for a tick while starts keep coming, and all begin when they end", async () => {
    const { throttle, started, request } = setUp(100);
    const names = Array.from({ length: 200 }, (_, n) => String(n));
    throttle.noteStart();
    for (const name of names) request(name);
    expect(started).toEqual(["0"]);
    await vi.advanceTimersByTimeAsync(10);
    expect(started.length).toBeGreaterThan(0);
    expect(started.length).toBeLessThan(10);
    await vi.advanceTimersByTimeAsync(200);
    expect(started).toEqual(names);
  });

  it("begin at some time however long starts keep coming", async () => {
    const { throttle, started, request } = setUp(100);
    throttle.noteStart();
    for (let n = 0; n < 40; n += 1) request(String(n));
    for (let tick = 0; tick < 100; tick += 1) {
      throttle.noteStart();
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(started).toHaveLength(40);
  });

  // Starts that keep coming, and ten steps in each tick. Returns how many steps wait after each second.
  async function waitingSteps(starts: number, seconds = 3, startsPerTick = 1): Promise<number[]> {
    const { throttle, started, request } = setUp(100, starts);
    const waiting: number[] = [];
    let requested = 0;
    for (let tick = 1; tick <= seconds * 100; tick += 1) {
      for (let n = 0; n < startsPerTick; n += 1) throttle.noteStart();
      for (let n = 0; n < 10; n += 1) request(String(requested++));
      await vi.advanceTimersByTimeAsync(10);
      if (tick % 100 === 0) waiting.push(requested - started.length);
    }
    return waiting;
  }

  it("do not wait for starts one after another while the process has time for both", async () => {
    utilization = 0.5;
    expect(await waitingSteps(1)).toEqual([0, 0, 0]);
  });

  it("wait for a caller that sends start after start, also in a process that is less busy", async () => {
    utilization = 0.5;
    const [first = 0, , third] = await waitingSteps(1, 3, 4);
    expect(first).toBeGreaterThan(500);
    expect(third).toBe(0);
  });

  it("wait for such starts in a busy process, but keep up with them if they last", async () => {
    const [first = 0, , third] = await waitingSteps(1);
    expect(first).toBeGreaterThan(500);
    expect(third).toBe(0);
  });

  it("wait for many starts at once, but four begin in each tick after a surge", async () => {
    const [first = 0, , third = 0, fourth = 0] = await waitingSteps(16, 4);
    expect(first).toBeGreaterThan(500);
    expect(fourth - third).toBe(100 * (10 - 4));
  });

  it("begin sixteen in the first tick without a start", async () => {
    let starts = 9;
    const throttle = new StepThrottle({ executing: () => 100, starting: () => starts });
    let begun = 0;
    const begin = () => {
      begun += 1;
    };
    throttle.noteStart();
    for (let n = 0; n < 100; n += 1) void Promise.resolve(throttle.next(one)).then(begin);
    await vi.advanceTimersByTimeAsync(10);
    starts = 0;
    await vi.advanceTimersByTimeAsync(10);
    const before = begun;
    await vi.advanceTimersByTimeAsync(10);
    expect(begun - before).toBe(16);
  });

  it("of one organization do not wait behind all those of another", async () => {
    const { throttle, started, request } = setUp(100);
    throttle.noteStart();
    for (let n = 0; n < 50; n += 1) request(`one ${n}`);
    request("other", other);
    await vi.advanceTimersByTimeAsync(20);
    expect(started).toContain("other");
    expect(started.length).toBeLessThan(20);
  });
});
