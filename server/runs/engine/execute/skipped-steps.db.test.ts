import { expect, it } from "vitest";
import { handleRest } from "@/server/api/rest";
import type { JsonObject } from "@/server/base/json/json";
import { inspectRun } from "@/server/runs/read/inspect/inspect";
import { inspectStep } from "@/server/runs/read/inspect/inspect-line";
import { startRun } from "@/server/runs/start";
import { executeRun, replaceWorker } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import { createMember } from "@/testing/runs";
import { insertTool } from "@/testing/tools";
import { createTenant, createWorld, openWorld, type Tenant } from "@/testing/world";
import { WorkerLost } from "../write/writer";

const world = await openWorld();

const step = (id: string, rest: JsonObject = {}) => ({
  id,
  uses: "transform_json",
  with: { value: { status: "late", late: [] }, expression: "$" },
  ...rest,
});
const DEFINITION = {
  steps: [
    step("check"),
    step("notify", { if: 'steps.check.state = "late"' }),
    step("each", { forEach: "steps.check.orders" }),
    step("last"),
  ],
};

async function start(tenant: Tenant, definition: JsonObject) {
  const targetId = await insertTool(world, tenant, { slug: "checker", definition });
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  return (await startRun(world, actor, { kind: "tool", targetId, input: {} })).runId;
}
const rowsOf = (runId: string) =>
  world.db.step.findMany({ where: { runId }, orderBy: { stepNumber: "asc" } });

it("shows a skipped step with its condition, and counts it as nothing", async () => {
  const tenant = await createTenant(world);
  const runId = await start(tenant, DEFINITION);
  await executeRun(world, runId);
  const run = await world.db.run.findUniqueOrThrow({ where: { id: runId } });
  expect(run).toMatchObject({ status: "Completed", stepsExecuted: 2, actionsUsed: 2 });
  expect(run.creditsUsed.toString()).toBe("0.02");
  const viewer = await createMember(world, tenant, "viewer");
  const { steps, run: shown } = await inspectRun(world, viewer, { runId });
  expect(shown.steps).toBe(2);
  const lines = steps.map(({ key, status, credits, skipped }) => [key, status, credits, skipped]);
  expect(lines).toEqual([
    ["check", "Completed", "0.0100", null],
    [
      "notify",
      "Skipped",
      "0.0000",
      {
        by: "if",
        expression: 'steps.check.state = "late"',
        value: "false",
        read: [{ path: "steps.check.state", value: null }],
      },
    ],
    ["each", "Skipped", "0.0000", { by: "forEach", expression: "steps.check.orders", value: null, read: [] }],
    ["last", "Completed", "0.0100", null],
  ]);
  const [, notify] = steps;
  const detail = await inspectStep(world, viewer, { runId, stepId: notify?.id ?? "" });
  expect(detail).toMatchObject({ status: "Skipped", skipped: { value: "false" } });
  await expectSoundLedger(world, tenant);

  // What clients of the contract get has no trace of it.
  const answer = await handleRest(
    world,
    new Request(`http://localhost/v1/tools/run/${runId}/result`, { headers: { "X-API-Key": tenant.key } }),
  );
  const text = await answer.text();
  expect(answer.status).toBe(200);
  expect(text).not.toContain("notify");
  expect(JSON.parse(text)).toMatchObject({ actionsUsed: 2 });
});

it("writes the rows of skipped steps with others", async () => {
  const tenant = await createTenant(world);
  const runId = await start(tenant, { steps: [step("notify", { if: "false" }), step("last")] });
  const { journal } = await world.engine.worker();
  const row = journal.row.bind(journal);
  let written = 0;
  journal.row = (item) => {
    written += 1;
    return row(item);
  };
  await executeRun(world, runId);
  journal.row = row;
  // Both rows came with the end of the run.
  expect(written).toBe(0);
  expect((await rowsOf(runId)).map(({ key, status }) => [key, status])).toEqual([
    ["notify", "Skipped"],
    ["last", "Completed"],
  ]);
});

it("keeps a skipped step when another worker continues the run, and counts the same", async () => {
  const tenant = await createTenant(world);
  const runId = await start(tenant, DEFINITION);
  const beside = await createWorld({ beside: world, models: world.models });
  const { accounts } = await beside.engine.worker();
  const end = accounts.end.bind(accounts);
  accounts.end = async (item, rows = []) => {
    await replaceWorker(beside);
    return end(item, rows);
  };
  await expect(executeRun(beside, runId)).rejects.toThrow(WorkerLost);
  await beside.close();
  await executeRun(world, runId);
  expect(await world.db.run.findUniqueOrThrow({ where: { id: runId } })).toMatchObject({
    status: "Completed",
    stepsExecuted: 2,
    actionsUsed: 2,
  });
  expect((await rowsOf(runId)).map(({ stepNumber, key, status }) => [stepNumber, key, status])).toEqual([
    [1, "check", "Completed"],
    [2, "notify", "Skipped"],
    [3, "each", "Skipped"],
    [4, "last", "Completed"],
  ]);
  await expectSoundLedger(world, tenant);
});
