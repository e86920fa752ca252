import { expect, it } from "vitest";
import { admitWaitingRuns, claimRun } from "@/server/runs/engine/claim";
import { removeWorker } from "@/server/runs/engine/worker";
import { startRun } from "@/server/runs/start";
import { createMember, insertRun } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";
import { readLiveness } from "./liveness";

const world = await openWorld();

const isNotFound = expect.objectContaining({ code: "not_found" });

it("returns when the worker of a running run last reported", async () => {
  const tenant = await createTenant(world);
  const viewer = await createMember(world, tenant, "viewer");
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const request = { kind: "tool", targetId: tenant.toolId, input: { a: 1, b: 2 } } as const;
  const { runId } = await startRun(world, actor, request);
  await admitWaitingRuns(world, { worker: null, slots: 1 });
  expect(await readLiveness(world, viewer, runId)).toEqual({ silentMs: null, queue: null, wakeAt: null });

  // A worker of another process that no longer reports.
  const workerId = "worker-silent";
  await world.pool.query(
    "INSERT INTO workers (id, heartbeat_at) VALUES ($1, clock_timestamp() - interval '1 second')",
    [workerId],
  );
  await claimRun(world, { runId }, workerId);
  const { silentMs, queue } = await readLiveness(world, viewer, runId);
  expect(silentMs).toBeGreaterThanOrEqual(1_000);
  expect(queue).toBeNull();

  // Without a worker, it waits for the next one.
  await removeWorker(world.pool, workerId);
  expect(await readLiveness(world, viewer, runId)).toEqual({ silentMs: null, queue: null, wakeAt: null });
});

it("describes what a run without a slot waits for, to members of its organization only", async () => {
  const tenant = await createTenant(world, { plan: { concurrency: 1 } });
  const other = await createTenant(world);
  const viewer = await createMember(world, tenant, "viewer");
  await insertRun(world, tenant, { status: "Pending" });
  await admitWaitingRuns(world, { worker: null, slots: 1 });
  await insertRun(world, other, { status: "Pending" });
  await insertRun(world, tenant, { status: "Pending" });
  const runId = await insertRun(world, tenant, { status: "Pending" });
  await insertRun(world, tenant, { status: "Pending" });
  expect(await readLiveness(world, viewer, runId)).toEqual({
    silentMs: null,
    queue: { ahead: 1, slots: 1, taken: 1 },
    wakeAt: null,
  });
  const stranger = await createMember(world, other, "owner");
  await expect(readLiveness(world, stranger, runId)).rejects.toEqual(isNotFound);
});
