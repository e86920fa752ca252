import { expect, it } from "vitest";
import { indexEndedRuns } from "@/server/runs/read/find/run-index";
import { createMember, insertRun } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";
import { inspectRun } from "./inspect";

const world = await openWorld();

it("finds the last successful run of the same agent or tool before a failed one", async () => {
  const tenant = await createTenant(world);
  const viewer = await createMember(world, tenant, "viewer");
  const lastGood = async (runId: string) => (await inspectRun(world, viewer, { runId })).run.lastGoodRunId;

  const first = await insertRun(world, tenant, { status: "Failed" });
  expect(await lastGood(first)).toBeNull();
  await insertRun(world, tenant, { status: "Completed" });
  const good = await insertRun(world, tenant, { status: "Completed" });
  await insertRun(world, tenant, { status: "Failed" });
  await insertRun(world, tenant, { kind: "agent", status: "Completed" });
  await insertRun(world, await createTenant(world), { status: "Completed" });
  const failed = await insertRun(world, tenant, { status: "Failed" });
  await insertRun(world, tenant, { status: "Completed" });
  expect(await lastGood(failed)).toBe(good);
  await indexEndedRuns(world);
  expect(await lastGood(failed)).toBe(good);
  expect(await lastGood(good)).toBeNull();
});

it("shows the current version of the target, or none if it is deleted", async () => {
  const tenant = await createTenant(world);
  const viewer = await createMember(world, tenant, "viewer");
  const runId = await insertRun(world, tenant);
  const version = async () => (await inspectRun(world, viewer, { runId })).run.currentVersion;
  expect(await version()).toBe(1);
  await world.db.tool.update({ where: { id: tenant.toolId }, data: { version: 3 } });
  expect(await version()).toBe(3);
  await world.db.tool.update({ where: { id: tenant.toolId }, data: { deletedAt: world.clock.now() } });
  expect(await version()).toBeNull();
});

it("counts a child run's use for the step that started it", async () => {
  const tenant = await createTenant(world);
  const viewer = await createMember(world, tenant, "viewer");
  const runId = await insertRun(world, tenant, { kind: "agent", status: "Running", steps: 2 });
  const child = await insertRun(world, tenant, { status: "Running", steps: 1 });
  await world.db.step.updateMany({ where: { runId: child }, data: { credits: "0.0300" } });
  await world.db.run.update({
    where: { id: child },
    data: { parentRunId: runId, rootRunId: runId, source: "run" },
  });
  await world.db.step.updateMany({ where: { runId, stepNumber: 2 }, data: { childRunId: child } });
  const { run, steps } = await inspectRun(world, viewer, { runId });
  expect(steps.map(({ childCredits }) => childCredits)).toEqual([null, "0.0300"]);
  expect(run).toMatchObject({ credits: "0.0000", creditsWithChildren: "0.0300", steps: 2, sequence: 2 });
});

it("marks the failures that the tool's definition tolerates, items and members of groups included", async () => {
  const tenant = await createTenant(world);
  const viewer = await createMember(world, tenant, "viewer");
  const runId = await insertRun(world, tenant, { steps: 4 });
  const call = { uses: "calculate", with: { expression: "1 / 0" } };
  const definition = {
    steps: [
      { id: "each", forEach: "{{ [1] }}", onError: "continue", ...call },
      { id: "group", onError: "continue", parallel: [{ id: "inner", ...call }] },
      { id: "strict", ...call },
    ],
  };
  await world.db.configuration.updateMany({
    where: { organizationId: tenant.orgId },
    data: { document: JSON.stringify({ kind: "tool", name: "Adder", definition }) },
  });
  const keys = ["each[0]", "each[1]", "inner", "strict"];
  for (const [index, key] of keys.entries()) {
    await world.db.step.updateMany({
      where: { runId, stepNumber: index + 1 },
      data: { key, ...(key === "each[1]" ? {} : { status: "Failed", errorMessage: "It failed." }) },
    });
  }
  const { steps } = await inspectRun(world, viewer, { runId });
  expect(steps.map(({ key, tolerated }) => [key, tolerated])).toEqual([
    ["each[0]", true],
    ["each[1]", false],
    ["inner", true],
    ["strict", false],
  ]);
});
