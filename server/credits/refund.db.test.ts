import { expect, it } from "vitest";
import { withFunctionNames } from "@/server/base/db/functions";
import { newId } from "@/server/base/ids";
import { removeWorker } from "@/server/runs/engine/worker";
import type { EndItem } from "@/server/runs/engine/write/flush-items";
import { WorkerLost } from "@/server/runs/engine/write/writer";
import { startRun } from "@/server/runs/start";
import { executeRun } from "@/testing/execute";
import { createTenant, openWorld, scriptedModels, type Tenant } from "@/testing/world";
import { refundRun } from "./refund";

let modelCalls = 0;
let diesAt: number | null = null;

const world = await openWorld({
  models: scriptedModels(async () => {
    modelCalls += 1;
    if (modelCalls === diesAt) await removeWorker(world.pool, (await world.engine.worker()).id);
    return modelCalls > 1 ? {} : { toolCalls: [{ id: "a", name: "adder", arguments: '{"a":1,"b":2}' }] };
  }),
});

const operator = ({ orgId }: Tenant) => ({ kind: "operator", orgId, name: "test" }) as const;
const entriesOf = (tenant: Tenant) =>
  world.db.creditEntry.findMany({ where: { organizationId: tenant.orgId }, orderBy: { sequence: "asc" } });
const balanceOf = async ({ orgId }: Tenant) =>
  (await world.db.organization.findUniqueOrThrow({ where: { id: orgId } })).balance.toString();

async function runHelper(tenant: Tenant, dies: boolean): Promise<string> {
  modelCalls = 0;
  diesAt = dies ? 2 : null;
  const request = { kind: "agent", targetId: tenant.agentId, userMessage: "Add" } as const;
  const { runId } = await startRun(world, operator(tenant), request);
  const executed = executeRun(world, runId);
  if (dies) await expect(executed).rejects.toThrow(WorkerLost);
  else await executed;
  return runId;
}

it("does not charge a run that ended by an error of the platform, and notes it in the ledger", async () => {
  const tenant = await createTenant(world, { credits: "10" });
  const runId = await runHelper(tenant, true);
  const figures = await world.pool.query(
    withFunctionNames("SELECT credits FROM open_run_figures($1, true)"),
    [runId],
  );
  expect(figures.rows).toEqual([{ credits: "0.0240" }]);

  await world.engine.failRun(runId, new Error("the worker was lost once too often"));
  const run = await world.db.run.findUniqueOrThrow({ where: { id: runId }, include: { children: true } });
  expect(run).toMatchObject({ status: "Failed", errorCode: "internal_error", stepsExecuted: 1 });
  expect(run.creditsUsed.toString()).toBe("0");
  expect(await balanceOf(tenant)).toBe("10");
  const [child] = run.children;
  // The tool's own run completed and stays so; its charge is refunded.
  expect(child?.creditsUsed.toString()).toBe("0.01");
  const posted = (await entriesOf(tenant))
    .slice(-2)
    .map(({ kind, amount, note, runId: of }) => ({ kind, amount: amount.toString(), note, of }));
  expect(posted).toEqual([
    {
      kind: "release",
      amount: expect.any(String),
      note: expect.stringContaining("0.024 credits used are not charged"),
      of: runId,
    },
    {
      kind: "refund",
      amount: "0.01",
      note: "the calling run ended by an error of the platform",
      of: child?.id,
    },
  ]);
  await expect(refundRun(world, operator(tenant), { runId, note: "again" })).rejects.toThrow(
    "nothing to refund",
  );
});

it("refunds an ended run and its tools once, without changing the run", async () => {
  const tenant = await createTenant(world, { credits: "10" });
  const runId = await runHelper(tenant, false);
  const before = await world.db.run.findUniqueOrThrow({ where: { id: runId } });
  expect(await balanceOf(tenant)).toBe("9.952");

  const refund = () => refundRun(world, operator(tenant), { runId, note: "The model had a bad day." });
  const attempts = await Promise.allSettled([refund(), refund(), refund()]);
  expect(attempts.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(await balanceOf(tenant)).toBe("10");
  const refunds = (await entriesOf(tenant)).filter(({ kind }) => kind === "refund");
  expect(refunds.map(({ amount, actor }) => [amount.toString(), actor])).toEqual([
    ["0.038", "operator"],
    ["0.01", "operator"],
  ]);
  expect(await world.db.run.findUniqueOrThrow({ where: { id: runId } })).toEqual(before);
});

it("rejects a refund of an open run, another organization's run, or without a note", async () => {
  const tenant = await createTenant(world);
  const stranger = await createTenant(world);
  const request = { kind: "tool", targetId: tenant.toolId, input: { a: 1, b: 2 } } as const;
  const { runId } = await startRun(world, operator(tenant), request);
  await expect(refundRun(world, operator(tenant), { runId, note: "why" })).rejects.toThrow("has not ended");
  await executeRun(world, runId);
  await expect(refundRun(world, operator(stranger), { runId, note: "why" })).rejects.toThrow(
    "There is no run",
  );
  await expect(refundRun(world, operator(tenant), { runId, note: " " })).rejects.toThrow(
    "note must give a reason",
  );
  await expect(refundRun(world, operator(tenant), { runId: "x", note: "why" })).rejects.toThrow(
    "not a run id",
  );
});

it("refunds a tool's run once if its caller and the caller's caller end in one flush", async () => {
  const tenant = await createTenant(world, { credits: "100" });
  const start = { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" } as const;
  const { runId: root } = await startRun(world, operator(tenant), start);
  const [child, grandchild] = [newId(), newId()];
  await world.pool.query("UPDATE runs SET claimed_by = NULL, epoch = 0 WHERE id = $1", [root]);
  for (const [id, parent] of [[child, root] as const, [grandchild, child] as const]) {
    await world.pool.query(
      `INSERT INTO runs SELECT (jsonb_populate_record(r, jsonb_build_object('id', $2::text, 'parent_run_id', $3::text, 'source', 'run', 'held', 0))).*
       FROM runs r WHERE id = $1`,
      [root, id, parent],
    );
  }
  const { accounts } = await world.engine.worker();
  const end = (run: string, change: Pick<EndItem, "credits" | "refund">) =>
    accounts.end({
      run,
      org: tenant.orgId,
      epoch: 0,
      unclaimed: true,
      status: "Failed",
      output: null,
      code: "internal_error",
      message: "lost",
      cancelled_by: null,
      input_tokens: 0,
      output_tokens: 0,
      actions: 0,
      steps: 0,
      note: "run ended",
      sequence: 2,
      ...change,
    });
  await end(grandchild, { credits: "0.0001", refund: false });
  const waived = { credits: "0", refund: true };
  const ends = await Promise.all([end(child, waived), end(root, waived)]);
  expect(ends).not.toContain(null);
  const refunds = (await entriesOf(tenant)).filter(({ kind }) => kind === "refund");
  expect(refunds.map(({ amount }) => amount.toString())).toEqual(["0.0001"]);
});
