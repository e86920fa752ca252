import { describe, expect, it } from "vitest";
import { cancelMatching, cancelRun } from "@/server/runs/cancel";
import { ask, openScriptedWorld } from "@/testing/engine/scripted-world";
import { expectSoundLedger } from "@/testing/ledger";
import { createMember, insertRun } from "@/testing/runs";
import { setWriter } from "@/testing/tools";
import { createTenant } from "@/testing/world";

const { world, start, read, run } = await openScriptedWorld();

it("cancels all open runs of a filter, older ones too when the newest are being cancelled already", async () => {
  const tenant = await createTenant(world);
  const actor = await createMember(world, tenant, "member");
  const insert = (status: "Running" | "Completed") => insertRun(world, tenant, { status });
  const older = [await insert("Running"), await insert("Running")];
  await insert("Completed");
  const newer = [await insert("Running"), await insert("Running"), await insert("Running")];
  await world.db.run.updateMany({
    where: { id: { in: newer } },
    data: { cancelRequestedAt: world.clock.now(), cancelledBy: "somebody" },
  });
  let found = 0;
  let before: string | undefined;
  do {
    const page = await cancelMatching(world, actor, { filter: {}, before, limit: 2 });
    found += page.found;
    before = page.next ?? undefined;
  } while (before !== undefined);
  expect(found).toBe(2);
  const runs = await world.db.run.findMany({ where: { id: { in: older } } });
  expect(runs.map((run) => run.cancelledBy)).toEqual([actor.name, actor.name]);
  expect(await cancelMatching(world, actor, { filter: { status: ["Completed"] } })).toEqual({
    found: 0,
    next: null,
  });
});

describe("cancel", () => {
  it("ends a pending run at once, twice is the same, and leaves ended runs alone", async () => {
    const tenant = await createTenant(world);
    const { runId } = await start(tenant);
    expect(await cancelRun(world, tenant.orgId, { runId, by: "Ada" })).toBe(true);
    expect(await cancelRun(world, tenant.orgId, { runId, by: "Bob" })).toBe(true);
    expect(await read(runId)).toMatchObject({ status: "Cancelled", cancelledBy: "Ada", errorMessage: null });
    await expectSoundLedger(world, tenant);
    const stranger = await createTenant(world);
    expect(await cancelRun(world, stranger.orgId, { runId, by: "Eve" })).toBe(false);
  });

  it("aborts the model call of a running run and charges what was used", async () => {
    const tenant = await createTenant(world);
    const cancelled = await run(tenant, "Hi", async (request, call) => {
      if (call === 1) return ask("calculate", { expression: "1+1" });
      const open = await world.db.run.findFirstOrThrow({
        where: { organizationId: tenant.orgId, status: "Running" },
      });
      const aborted = new Promise<never>((_resolve, reject) => {
        request.signal.addEventListener("abort", () => reject(request.signal.reason));
      });
      await cancelRun(world, tenant.orgId, { runId: open.id, by: "Ada" });
      return aborted;
    });
    expect(cancelled).toMatchObject({
      status: "Cancelled",
      cancelledBy: "Ada",
      stepsExecuted: 1,
      errorMessage: null,
    });
    expect(cancelled.creditsUsed.toString()).toBe("0.024");
    await expectSoundLedger(world, tenant);
  });

  it("takes the open child along", async () => {
    const tenant = await createTenant(world, { agent: { functions: [] } });
    await setWriter(world, tenant);
    const done = await run(tenant, "Hi", async (request) => {
      if (request.messages.every(({ content }) => content !== "write")) return ask("adder", {});
      const root = await world.db.run.findFirstOrThrow({
        where: { organizationId: tenant.orgId, parentRunId: null },
      });
      const aborted = new Promise<never>((_resolve, reject) => {
        request.signal.addEventListener("abort", () => reject(request.signal.reason));
      });
      await cancelRun(world, tenant.orgId, { runId: root.id, by: "Ada" });
      return aborted;
    });
    expect(done).toMatchObject({ status: "Cancelled", cancelledBy: "Ada", steps: [{ status: "Failed" }] });
    const child = await world.db.run.findFirstOrThrow({ where: { parentRunId: done.id } });
    expect(child).toMatchObject({ status: "Cancelled", cancelledBy: "Ada" });
    await expectSoundLedger(world, tenant);
  });
});
