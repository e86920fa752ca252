import { expect, it } from "vitest";
import { createTenant, openWorld } from "@/testing/world";
import { startRun } from "../start";
import { Dispatcher, type Executor } from "./dispatcher";
import { ProcessSlots } from "./slots/process-slots";
import { openWorker, removeWorker } from "./worker";

const world = await openWorld();
const tenant = await createTenant(world);

async function start({ orgId, agentId } = tenant): Promise<string> {
  const actor = { kind: "operator", orgId, name: "test" } as const;
  return (await startRun(world, actor, { kind: "agent", targetId: agentId, userMessage: "Hi" })).runId;
}

type Statement = { name: string; text: string; values: unknown[] };

/** A dispatcher without its timers. `after` is called after each statement, before its result arrives. */
async function open(total: number, after: (statement: Statement) => Promise<void>) {
  const pool = Object.create(world.pool);
  pool.query = async (statement: Statement) => {
    const result = await world.pool.query(statement);
    await after(statement);
    return result;
  };
  const services = { ...world, pool };
  const worker = await openWorker(world, {
    freeSlots: () => 0,
    executing: () => 0,
    onAdmitted: () => {},
    onRejected: () => {},
    onLost: () => {},
  });
  const slots = new ProcessSlots(() => services, total);
  const begun: string[] = [];
  const executor: Executor = {
    freeSlots: () => slots.free,
    worker: async () => worker,
    async beginClaimed(run) {
      begun.push(run.id);
      slots.open(run, worker);
    },
    abort: () => {},
    isKnown: () => true,
  };
  const driver = { kind: "embedded", execute: async () => {} } as const;
  const dispatcher = new Dispatcher(services, driver, { executor, slots, queue: "all" });
  const close = async () => {
    dispatcher.stop();
    await worker.close();
    await removeWorker(world.pool, worker.id);
    await world.db.run.deleteMany();
  };
  return { dispatcher, begun, close };
}

it("claims a run that begins to wait while it asks whether others do", async () => {
  const started: string[] = [];
  const { dispatcher, begun, close } = await open(8, async ({ name }) => {
    if (name !== "find-waiting" || started.length > 1) return;
    started.push(await start());
    dispatcher.wake();
  });
  started.push(await start());
  dispatcher.wake();
  await expect.poll(() => begun).toHaveLength(2);
  expect(begun).toEqual(started);
  await close();
});

it("claims for a slot that gets free while it asks whether runs wait", async () => {
  const limited = await createTenant(world);
  await world.db.plan.update({ where: { organizationId: limited.orgId }, data: { concurrency: 1 } });
  const started = [await start(limited), await start(limited)];
  const { dispatcher, begun, close } = await open(8, async ({ name }) => {
    if (name !== "find-waiting" || begun.length > 1) return;
    await world.db.plan.update({ where: { organizationId: limited.orgId }, data: { concurrency: 2 } });
    dispatcher.noteFreeSlot();
  });
  dispatcher.wake();
  await expect.poll(() => begun).toEqual(started);
  await close();
});

it("leaves half of the free slots for starts, unless more runs wait", async () => {
  const claims: unknown[] = [];
  const { dispatcher, begun, close } = await open(8, async ({ name, values }) => {
    if (name === "claim-waiting-runs") claims.push(values[1]);
  });
  for (let n = 0; n < 10; n += 1) await start();
  dispatcher.wake();
  await expect.poll(() => begun).toHaveLength(8);
  expect(claims).toEqual([4, 4]);
  await close();
});

it("ends each cancelled run, though another one cannot be ended", async () => {
  const [first, second] = [await start(), await start()];
  await world.db.run.updateMany({ data: { cancelRequestedAt: world.clock.now(), cancelledBy: "Ada" } });
  const { dispatcher, close } = await open(8, async ({ name, values }) => {
    if (name === "find-open-run" && values[0] === first) throw new Error("this run cannot be ended");
  });
  dispatcher.start();
  const statusOf = async (id: string) => (await world.db.run.findUniqueOrThrow({ where: { id } })).status;
  await expect.poll(() => statusOf(second)).toBe("Cancelled");
  expect(await statusOf(first)).toBe("Pending");
  await close();
});
