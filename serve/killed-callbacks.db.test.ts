import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { PAUSE_POINTS, type PausePoint } from "@/server/base/pause-points";
import { sleep } from "@/server/base/sleep";
import { insertCallback } from "@/testing/callbacks";
import { expectSoundLedger } from "@/testing/ledger";
import { startCallbackReceiver } from "@/testing/servers/callback-receiver";
import { type BuiltProcess, builtService, startOverRest } from "@/testing/services/built-service";
import { untilReady } from "@/testing/services/service-process";
import { insertTool } from "@/testing/tools";
import { createSchedule, createTenant, createWorld, type Tenant, type World } from "@/testing/world";

/** Callbacks and schedules while processes of the service are killed. */

const MINUTE_MS = 60_000;

let world: World;
let receiver: Awaited<ReturnType<typeof startCallbackReceiver>>;
let tenant: Tenant;
let toolId: string;
const service = builtService(() => world);

beforeAll(async () => {
  await service.build();
  receiver = await startCallbackReceiver();
  world = await createWorld({ env: { EGRESS_ALLOW: receiver.host } });
}, 240_000);
afterAll(async () => {
  await receiver.close();
  await world.close();
});
beforeEach(async () => {
  receiver.received.length = 0;
  receiver.answer = () => ({});
  tenant = await createTenant(world, { credits: "100000" });
  const steps = [{ id: "sum", uses: "calculate", with: { expression: "1 + 1" } }];
  toolId = await insertTool(world, tenant, { slug: "sum", definition: { steps } });
  await insertCallback(world, tenant, {
    url: `${receiver.url}/${tenant.orgId}`,
    events: ["run.completed", "run.failed", "run.cancelled", "schedule.missed"],
  });
});

const startProcess = (points: Partial<Record<PausePoint, number>> = {}) =>
  service.start({
    env: {
      EGRESS_ALLOW: receiver.host,
      OPENAI_API_KEY: "test",
      OPENAI_BASE_URL: "http://127.0.0.1:9",
      STEPWELL_PAUSE_POINTS: Object.entries(points)
        .map((pair) => pair.join("="))
        .join(","),
    },
  });

/**
 * Ends the leases of a process that died, which would take 30 s. Others may lose theirs, too, which must be harmless.
 * A run that was interrupted often is not given to an isolated process.
 */
async function endLeases(): Promise<void> {
  const now = new Date();
  await world.db.callbackDelivery.updateMany({
    where: { leasedUntil: { gt: now } },
    data: { leasedUntil: now },
  });
  await world.db.scheduleTick.updateMany({
    where: { outcome: null, attemptAt: { gt: now } },
    data: { attemptAt: now },
  });
  await world.db.run.updateMany({ where: { finishedAt: null, crashes: { gt: 0 } }, data: { crashes: 0 } });
}

const isReady = ({ child, origin }: BuiltProcess) => untilReady(child, Number(new URL(origin).port));

const idsOf = (runs: { id: string }[]) => runs.map(({ id }) => id).sort();
function arrived(): Map<string, { id: string | undefined; type: string }[]> {
  const events = new Map<string, { id: string | undefined; type: string }[]>();
  for (const { path, headers, body } of receiver.received) {
    if (!path.endsWith(tenant.orgId)) continue;
    const { type, data } = JSON.parse(body);
    events.set(data.id, [...(events.get(data.id) ?? []), { id: headers["webhook-id"], type }]);
  }
  return events;
}

/** Each run's end arrived, once or more, always with the same id. */
async function expectAllToArrive(): Promise<void> {
  const where = { organizationId: tenant.orgId };
  const undelivered = () => world.db.callbackDelivery.count({ where: { ...where, deliveredAt: null } });
  const unended = () => world.db.run.count({ where: { ...where, finishedAt: null } });
  const unexpanded = () => world.db.callbackEvent.count({ where: { ...where, expandedAt: null } });
  await expect
    .poll(
      async () => {
        await endLeases();
        return [await unended(), await unexpanded(), await undelivered()];
      },
      { timeout: 120_000, interval: 500 },
    )
    .toEqual([0, 0, 0]);
  const events = arrived();
  const runs = await world.db.run.findMany({ where, select: { id: true } });
  expect([...events.keys()].sort()).toEqual(idsOf(runs));
  for (const attempts of events.values()) {
    expect(new Set(attempts.map(({ id }) => id)).size).toBe(1);
    expect(new Set(attempts.map(({ type }) => type))).toEqual(new Set(["run.completed"]));
  }
}

it("an event arrives though the process that sends it is killed at each point, one after the other", async () => {
  for (const point of ["callback:before", "callback:expanded", "callback:sent"] as const) {
    const dying = await startProcess({ [point]: 1 });
    // With an event that was left to it, it does not live until it is ready.
    if (await isReady(dying)) {
      // The start is committed, its answer may be lost.
      await startOverRest(dying, `tools/run/${toolId}`, { key: tenant.key, body: "{}" }).catch(() => {});
    }
    await dying.exited;
    expect([point, dying.child.signalCode]).toEqual([point, "SIGKILL"]);
    await endLeases();
  }
  expect(arrived().size).toBe(1);
  await startProcess();
  await expectAllToArrive();
  const [attempts] = [...arrived().values()];
  expect(attempts?.length).toBeGreaterThan(1);
}, 300_000);

async function surviveKills({
  schedules,
  minutes,
  kills,
}: Record<"schedules" | "minutes" | "kills", number>) {
  const since = new Date(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - minutes * MINUTE_MS);
  const rule = { cron: "* * * * *", overlap: "allow", catchUpSeconds: 86_400, tool: "sum" } as const;
  const ids: string[] = [];
  for (let n = 0; n < schedules; n += 1) ids.push((await createSchedule(world, tenant, rule)).id);
  await world.db.schedule.updateMany({ where: { id: { in: ids } }, data: { nextAt: since } });

  const points = PAUSE_POINTS.filter((point) => /^(tick|callback|end|accounts|journal):/.test(point));
  let killed = 0;
  const lives = Array.from({ length: 3 }, async (_, n) => {
    for (let life = 0; killed < kills; life += 1) {
      const point = points[(n * 5 + life) % points.length] ?? "tick:after";
      const started = await startProcess({ [point]: 0.2 });
      if (await isReady(started)) await sleep(Math.random() * 3_000);
      await service.kill(started.child);
      killed += 1;
      await endLeases();
    }
  });
  await Promise.all(lives);
  for (let n = 0; n < 3; n += 1) await startProcess();

  const ticks = () =>
    world.db.scheduleTick.findMany({ where: { organizationId: tenant.orgId }, orderBy: { dueAt: "asc" } });
  const isUndecided = async () => {
    await endLeases();
    return (await ticks()).filter(({ outcome }) => outcome === null).length;
  };
  const caughtUp = () => world.db.schedule.count({ where: { id: { in: ids }, nextAt: { lte: new Date() } } });
  await expect.poll(caughtUp, { timeout: 120_000, interval: 500 }).toBe(0);
  await world.db.schedule.updateMany({ where: { id: { in: ids } }, data: { nextAt: null } });
  await expect.poll(isUndecided, { timeout: 120_000, interval: 500 }).toBe(0);

  const decided = await ticks();
  for (const id of ids) {
    const own = decided.filter(({ scheduleId }) => scheduleId === id);
    expect(own.length).toBeGreaterThan(minutes);
    expect(own.map(({ dueAt }) => dueAt.getTime())).toEqual(
      own.map((_, n) => since.getTime() + n * MINUTE_MS),
    );
  }
  expect(new Set(decided.map(({ outcome }) => outcome))).toEqual(new Set(["started"]));
  const runs = await world.db.run.findMany({ where: { organizationId: tenant.orgId } });
  expect(idsOf(runs)).toEqual(decided.map(({ runId }) => runId).sort());
  await expect
    .poll(async () => world.db.run.count({ where: { organizationId: tenant.orgId, finishedAt: null } }), {
      timeout: 120_000,
      interval: 500,
    })
    .toBe(0);
  await expectAllToArrive();
  await expectSoundLedger(world, tenant);
  return { ticks: decided.length, requests: receiver.received.length, killed };
}

it("every tick has one row and one run, and every run's end arrives, while processes are killed", async () => {
  await surviveKills({ schedules: 3, minutes: 10, kills: 3 });
}, 300_000);

it("the same holds through many kills and a receiver that often fails", {
  tags: "long",
  timeout: 1_800_000,
}, async () => {
  // Without retries that wait for minutes.
  const retrying = setInterval(() => {
    const data = { nextAt: new Date() };
    void world.db.callbackDelivery.updateMany({ where: { nextAt: { not: null } }, data }).catch(() => {});
  }, 500);
  receiver.answer = () => {
    const chance = Math.random();
    return chance < 0.2 ? "close" : chance < 0.4 ? { status: 503 } : {};
  };
  const figures = await surviveKills({ schedules: 10, minutes: 60, kills: 50 });
  clearInterval(retrying);
  console.log(figures);
});
