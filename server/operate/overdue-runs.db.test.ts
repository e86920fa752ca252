import { expect, it, vi } from "vitest";
import { HOUR_MS } from "@/server/base/clock";
import { newId } from "@/server/base/ids";
import { cancelRun } from "@/server/runs/cancel";
import { admitWaitingRuns, claimRun } from "@/server/runs/engine/claim";
import { removeWorker } from "@/server/runs/engine/worker";
import { startRun } from "@/server/runs/start";
import { createTenant, openWorld } from "@/testing/world";
import { endOverdueRuns } from "./overdue-runs";

const world = await openWorld();
const tenant = await createTenant(world);

async function start(): Promise<string> {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  return (await startRun(world, actor, { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" })).runId;
}

async function startClaimed(count: number): Promise<{ runIds: string[]; workerId: string }> {
  const runIds: string[] = [];
  for (let n = 0; n < count; n += 1) runIds.push(await start());
  await admitWaitingRuns(world, { worker: null, slots: 100 });
  const workerId = `worker-${newId()}`;
  await world.pool.query("INSERT INTO workers (id, heartbeat_at) VALUES ($1, clock_timestamp())", [workerId]);
  for (const runId of runIds) await claimRun(world, { runId }, workerId);
  return { runIds, workerId };
}

async function startAbandoned(): Promise<string> {
  const { runIds, workerId } = await startClaimed(1);
  await removeWorker(world.pool, workerId);
  return runIds[0] ?? "";
}

const read = (id: string) => world.db.run.findUniqueOrThrow({ where: { id } });

it("fails a run without a worker 30 seconds past its deadline and releases its hold", async () => {
  const runId = await startAbandoned();
  // The run started 1 ms after it was created.
  world.clock.advance(930_001);
  await endOverdueRuns(world);
  expect((await read(runId)).status).toBe("Running");
  world.clock.advance(1);
  await endOverdueRuns(world);
  const run = await read(runId);
  expect(run).toMatchObject({ status: "Failed", errorCode: "deadline_exceeded" });
  expect(run.held.toNumber()).toBe(0);
});

it("leaves a run past its deadline to the worker that has it", async () => {
  const { runIds, workerId } = await startClaimed(1);
  world.clock.advance(930_002);
  await endOverdueRuns(world);
  const [runId = ""] = runIds;
  expect((await read(runId)).status).toBe("Running");
  await removeWorker(world.pool, workerId);
  await endOverdueRuns(world);
  expect((await read(runId)).status).toBe("Failed");
});

it("ends no run for a process whose own clock was set", async () => {
  const runId = await startAbandoned();
  const ahead = new Date(world.clock.now().getTime() + 25 * HOUR_MS);
  const wrong = vi.spyOn(world.clock, "now").mockImplementation(() => new Date(ahead));
  await endOverdueRuns(world).finally(() => wrong.mockRestore());
  expect((await read(runId)).status).toBe("Running");
});

it("completes a cancel whose worker died", async () => {
  const { runIds, workerId } = await startClaimed(1);
  const [runId = ""] = runIds;
  await cancelRun(world, tenant.orgId, { runId, by: "Ada" });
  expect((await read(runId)).status).toBe("Running");
  await removeWorker(world.pool, workerId);
  await endOverdueRuns(world);
  expect(await read(runId)).toMatchObject({ status: "Cancelled", cancelledBy: "Ada", errorMessage: null });
});

it("ends a run that got no slot for 24 hours", async () => {
  const runId = await start();
  world.clock.advance(24 * 3600_000);
  await endOverdueRuns(world);
  expect((await read(runId)).status).toBe("Pending");
  world.clock.advance(1);
  await endOverdueRuns(world);
  expect(await read(runId)).toMatchObject({ status: "Failed", errorCode: "not_admitted", startedAt: null });
});

it("keeps the full deadline of a run that waited nearly 24 hours for its slot", async () => {
  const runId = await start();
  world.clock.advance(24 * 3600_000 - 60_000);
  await admitWaitingRuns(world, { worker: null, slots: 100 });
  const worker = await world.engine.worker();
  await claimRun(world, { runId }, worker.id);
  await removeWorker(world.pool, worker.id);
  world.clock.advance(120_000);
  await endOverdueRuns(world);
  expect((await read(runId)).status).toBe("Running");
});

it("ends the other runs when one cannot be ended", async () => {
  const { runIds, workerId } = await startClaimed(2);
  const [broken = "", sound = ""] = runIds;
  // Its usage exceeds its hold and the balance: the database rejects the charge.
  await world.pool.query(
    `INSERT INTO model_calls (id, organization_id, run_id, key, iteration_number, provider, model, status, credits, attempts, started_at, finished_at, duration_ms, sequence)
     VALUES ($1, $2, $3, 'think-1', 1, 'test', 'gpt-5-mini', 'Completed', 1000, '[]', $4, $4, 0, 2)`,
    [newId(), tenant.orgId, broken, world.clock.now()],
  );
  await removeWorker(world.pool, workerId);
  world.clock.advance(931_000);
  await endOverdueRuns(world);
  expect((await read(broken)).status).toBe("Running");
  expect((await read(sound)).status).toBe("Failed");
  expect(
    world.log.entries.some(
      ({ level, ...entry }) => level === "error" && JSON.stringify(entry).includes(broken),
    ),
  ).toBe(true);
});
