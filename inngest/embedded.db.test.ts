import { describe, expect, it } from "vitest";
import { newId } from "@/server/ids";
import { WorkerLost } from "@/server/runs/engine/write/writer";
import { describeEngine } from "@/testing/engine/suite";
import { createEmbeddedDriver } from "./embedded";

/** The embedded engine and the SDK entry that it uses. Both fail if an SDK update changes that entry. */

await describeEngine({
  env: { APP_URL: "http://stepwell.test" },
  serve: () => {},
  close: async () => {},
});

describe("the SDK's own entry", () => {
  const run = { id: newId(), kind: "agent", epoch: 1, segment: 1 } as const;

  it("executes one step of a function, once", async () => {
    const executed: string[] = [];
    const driver = createEmbeddedDriver({
      executeSegment: async (runId) => {
        executed.push(runId);
        return "ended";
      },
    });
    if (driver.kind !== "embedded") throw new Error("not the embedded driver");
    await driver.execute(run);
    expect(executed).toEqual([run.id]);
  });

  it.each([
    ["a lost worker", new WorkerLost()],
    ["a database that is away", Object.assign(new Error("terminating connection"), { code: "57P01" })],
    ["anything else", new TypeError("x is not a function")],
  ])("throws what the step threw, as it was: %s", async (_, fault) => {
    let faults = 1;
    const driver = createEmbeddedDriver({
      executeSegment: async () => {
        faults -= 1;
        if (faults >= 0) throw fault;
        return "ended";
      },
    });
    if (driver.kind !== "embedded") throw new Error("not the embedded driver");
    await expect(driver.execute(run)).rejects.toBe(fault);
    await driver.execute(run);
  });
});
