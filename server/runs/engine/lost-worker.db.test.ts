import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { onPausePoint, type PausePoint } from "@/server/base/pause-points";
import { cancelRun } from "@/server/runs/cancel";
import { startRun } from "@/server/runs/start";
import type { ModelReply, ModelRequest } from "@/server/work/models/port";
import { replaceWorker, startEngine } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import { insertTool } from "@/testing/tools";
import {
  createTenant,
  createWorld,
  openWorld,
  scriptedModels,
  type Tenant,
  type World,
} from "@/testing/world";
import { removeWorker } from "./worker";

let busy: World;
let modelCalls = 0;
let play: (request: ModelRequest) => Partial<ModelReply> | Promise<Partial<ModelReply>>;

const world = await openWorld();
beforeEach(async () => {
  modelCalls = 0;
  const models = scriptedModels((request) => {
    modelCalls += 1;
    return play(request);
  });
  busy = await createWorld({ beside: world, models });
  startEngine(busy);
});
afterEach(async () => {
  onPausePoint(null);
  await busy.close();
});

const read = (id: string) => world.db.run.findUniqueOrThrow({ where: { id } });

async function startWait(tenant: Tenant): Promise<string> {
  const steps = [{ id: "pause", uses: "wait", with: { seconds: 60 } }];
  const targetId = await insertTool(world, tenant, { slug: "waits", definition: { steps } });
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  return (await startRun(busy, actor, { kind: "tool", targetId, input: {} })).runId;
}

/** Holds the first run that reaches the point, until `release`. */
function holdAt(point: PausePoint) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const reached = vi.fn();
  onPausePoint(async (at) => {
    if (at !== point || reached.mock.calls.length > 0) return;
    reached();
    await released;
  });
  return { release: () => release(), reached: () => expect.poll(() => reached.mock.calls.length).toBe(1) };
}

it("a run that the process claimed again can be cancelled after its earlier execution has stopped", async () => {
  const tenant = await createTenant(world);
  play = ({ signal }) => {
    if (modelCalls === 1) return {};
    return new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  };
  const held = holdAt("act:after");
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const request = { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" } as const;
  const { runId } = await startRun(busy, actor, request);
  await held.reached();
  await replaceWorker(busy);
  await expect.poll(() => modelCalls).toBe(2);
  held.release();
  await cancelRun(world, tenant.orgId, { runId, by: "Ada" });
  await expect.poll(async () => (await read(runId)).status).toBe("Cancelled");
  await expectSoundLedger(world, tenant);
});

it("a run that was about to sleep counts no crash when its process has only stalled", async () => {
  const tenant = await createTenant(world);
  const held = holdAt("yield:before");
  const runId = await startWait(tenant);
  await held.reached();
  await removeWorker(world.pool, (await busy.engine.worker()).id, { crashed: true });
  expect(await read(runId)).toMatchObject({ claimedBy: null, crashes: 1 });
  await expect.poll(async () => (await read(runId)).crashes).toBe(0);
  held.release();
  await expect.poll(async () => (await read(runId)).wakeAt).not.toBeNull();
  await cancelRun(world, tenant.orgId, { runId, by: "Ada" });
  await expectSoundLedger(world, tenant);
});

it("a process that stops stores first that a run has begun to sleep", async () => {
  const tenant = await createTenant(world);
  const held = holdAt("yield:before");
  const runId = await startWait(tenant);
  await held.reached();
  const { id } = await busy.engine.worker();
  const stopping = busy.engine.stop(20_000);
  // Without the run, the process would be gone after a few.
  for (let query = 0; query < 500; query += 1)
    expect((await world.pool.query("SELECT FROM workers WHERE id = $1", [id])).rowCount).toBe(1);
  held.release();
  await stopping;
  expect(await read(runId)).toMatchObject({ claimedBy: null, yieldedAt: [expect.any(Date)] });
  expect((await read(runId)).wakeAt).not.toBeNull();
  await cancelRun(world, tenant.orgId, { runId, by: "Ada" });
  await expectSoundLedger(world, tenant);
});
