import { expect, it } from "vitest";
import { startRun } from "@/server/runs/start";
import { createProcess } from "@/testing/process";
import { createTenant, openWorld, quietModels } from "@/testing/world";

const world = await openWorld();

it("runs yield when the process stops, though a job still waits for the database, and the stop ends before the job", async () => {
  const tenant = await createTenant(world);
  const calls: (() => void)[] = [];
  const toolCalls = [{ id: "c", name: "calculate", arguments: '{"expression":"1+2"}' }];
  const process = createProcess(world, {
    call: async (request) => {
      await new Promise<void>((release) => (calls.push(release) > 1 ? release() : undefined));
      return { ...(await quietModels.call(request)), toolCalls };
    },
  });
  await process.engine.execute();
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const request = { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" } as const;
  const { runId } = await startRun(process, actor, request);
  await expect.poll(() => calls.length).toBe(1);

  const lock = await world.pool.connect();
  await lock.query("BEGIN");
  await lock.query("LOCK TABLE schedules, schedule_ticks IN ACCESS EXCLUSIVE MODE");
  process.notifications.deliverLocally("schedule", "");
  const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%schedule%'`;
  await expect.poll(async () => (await world.pool.query(waiting)).rowCount).toBeGreaterThan(0);
  const stopped = process.engine.stop(60_000);
  try {
    calls[0]?.();
    const read = () => world.db.run.findUniqueOrThrow({ where: { id: runId } });
    await expect.poll(read, { timeout: 5_000 }).toMatchObject({ status: "Running", claimedBy: null });
    expect((await world.pool.query(waiting)).rowCount).toBeGreaterThan(0);
    expect(await world.db.worker.count()).toBe(1);
    await stopped;
    expect((await world.pool.query(waiting)).rowCount).toBeGreaterThan(0);
    expect(await world.db.worker.count()).toBe(0);
  } finally {
    await lock.query("COMMIT");
    lock.release();
    await stopped;
    await process.stop();
  }
  expect(calls).toHaveLength(1);
});
