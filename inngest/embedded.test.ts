import { expect, it } from "vitest";
import type { RunEngine } from "@/server/runs/engine/engine";
import { WorkerLost } from "@/server/runs/engine/writer";
import { createEmbeddedDriver } from "./embedded";

const run = { id: "01a20000-0000-7000-8000-000000000000", kind: "agent", epoch: 1, segment: 1 } as const;

function engineThat(executeSegment: RunEngine["executeSegment"]): RunEngine {
  const unused = () => {
    throw new Error("not used");
  };
  return {
    executeSegment,
    giveUp: unused,
    start: unused,
    stop: unused,
    worker: unused,
    begin: unused,
    wake: unused,
    abort: unused,
    find: unused,
    ready: unused,
  };
}

it("executes one segment of a run", async () => {
  const segments: string[] = [];
  const driver = createEmbeddedDriver(
    engineThat(async (runId) => {
      segments.push(runId);
      return "ended";
    }),
  );
  if (driver.kind !== "embedded") throw new Error("not embedded");
  await driver.execute(run);
  expect(segments).toEqual([run.id]);
});

it("throws what the segment threw, as it was: the engine tells lost workers and passing faults by it", async () => {
  for (const error of [new WorkerLost("gone"), Object.assign(new Error("x"), { code: "ECONNREFUSED" })]) {
    const driver = createEmbeddedDriver(engineThat(() => Promise.reject(error)));
    if (driver.kind !== "embedded") throw new Error("not embedded");
    await expect(driver.execute(run)).rejects.toBe(error);
  }
});
