import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { HOUR_MS } from "@/server/base/clock";
import { newId } from "@/server/base/ids";
import { onPausePoint, type PausePoint } from "@/server/base/pause-points";
import { removeDefinition } from "@/server/catalog/archive";
import { setSchedulePaused } from "@/server/catalog/schedules/save-schedule";
import { removeExpired } from "@/server/operate/retention";
import { cancelRun } from "@/server/runs/cancel";
import type { RunFilter } from "@/server/runs/read/find/filter";
import { indexEndedRuns } from "@/server/runs/read/find/run-index";
import { listRuns } from "@/server/runs/read/list";
import { readRunMetrics } from "@/server/runs/read/metrics/metrics";
import { createSchedule, createTenant, createWorld, openWorld, type Tenant } from "@/testing/world";
import { LEASE_SECONDS, QUEUE_POLL_MS } from "./ticks";
import { runDueSchedules, startScheduleTimer } from "./timer";

const world = await openWorld();
const { clock, db } = world;
const operatorOf = ({ orgId }: Tenant) => ({ kind: "operator", orgId, name: "operator" }) as const;

afterEach(async () => {
  onPausePoint(null);
  await db.schedule.updateMany({ data: { nextAt: null } });
  await db.scheduleTick.deleteMany({ where: { outcome: null } });
});

const ticksOf = (scheduleId: string) =>
  db.scheduleTick.findMany({ where: { scheduleId }, orderBy: { dueAt: "asc" } });
const outcomesOf = async (scheduleId: string) =>
  (await ticksOf(scheduleId)).map(({ outcome, code }) => code ?? outcome);
const runsOf = (scheduleId: string) => db.run.findMany({ where: { scheduleId }, orderBy: { id: "asc" } });
const cancelAll = async (tenant: Tenant, scheduleId: string) => {
  for (const { id } of await runsOf(scheduleId))
    await cancelRun(world, tenant.orgId, { runId: id, by: "test" });
};

async function nextHour(): Promise<Date> {
  const now = clock.now().getTime();
  clock.advance(HOUR_MS - (now % HOUR_MS) + 500);
  await runDueSchedules(world);
  return new Date(Math.floor(clock.now().getTime() / HOUR_MS) * HOUR_MS);
}

function dieAt(point: PausePoint, { every = 1 } = {}): void {
  let passed = 0;
  onPausePoint(async (reached) => {
    if (reached !== point) return;
    passed += 1;
    if (passed % every === 0) throw new Error("killed");
  });
}

describe("a due time", () => {
  it("starts one run, which names its schedule", async () => {
    const tenant = await createTenant(world);
    const { id } = await createSchedule(world, tenant);
    await runDueSchedules(world);
    expect(await ticksOf(id)).toEqual([]);

    const dueAt = await nextHour();
    await runDueSchedules(world);
    const [tick, ...more] = await ticksOf(id);
    expect(more).toEqual([]);
    expect(tick).toMatchObject({ outcome: "started", dueAt, code: null });
    const [run] = await runsOf(id);
    expect(run).toMatchObject({
      id: tick?.runId,
      source: "schedule",
      input: "Good morning",
      status: "Pending",
    });
    const { nextAt } = await db.schedule.findUniqueOrThrow({ where: { id } });
    expect(nextAt).toEqual(new Date(dueAt.getTime() + HOUR_MS));
  });

  it("has its run in lists by its schedule, also when the run has ended", async () => {
    const tenant = await createTenant(world);
    const { id } = await createSchedule(world, tenant);
    await createSchedule(world, tenant);
    await nextHour();
    const [run] = await runsOf(id);
    const list = (filter: RunFilter) => listRuns(world, tenant, { filter, limit: 10 });
    const expectFound = async () => {
      for (const filter of [{}, { source: "schedule" }, { kind: "agent" }] as const) {
        const { items } = await list({ ...filter, scheduleId: id });
        expect(items).toMatchObject([{ id: run?.id, source: "schedule", sourceName: "Hourly" }]);
      }
      expect((await list({ source: "schedule" })).items).toHaveLength(2);
      expect((await list({ triggerId: newId() })).items).toEqual([]);
    };
    await expectFound();
    await cancelAll(tenant, id);
    await expectFound();
    await indexEndedRuns(world);
    await expectFound();
  });

  it("gives a tool its input", async () => {
    const tenant = await createTenant(world);
    const { id } = await createSchedule(world, tenant, { tool: "adder", input: { a: 1, b: 2 } });
    const wrong = await createSchedule(world, tenant, { tool: "adder", input: { a: 1 } });
    await nextHour();
    expect((await runsOf(id)).map(({ input }) => input)).toEqual(['{"a":1,"b":2}']);
    expect(await outcomesOf(wrong.id)).toEqual(["invalid_request"]);
  });

  it("is skipped with the code of a rejected start", async () => {
    const poor = await createTenant(world, { credits: "0" });
    const inactive = await createTenant(world, { agent: { status: "inactive" } });
    const suspended = await createTenant(world);
    await db.organization.update({ where: { id: suspended.orgId }, data: { suspendedAt: clock.now() } });
    const ids: string[] = [];
    for (const tenant of [poor, inactive, suspended]) ids.push((await createSchedule(world, tenant)).id);
    await nextHour();
    const ticks = await Promise.all(ids.map(ticksOf));
    expect(ticks.flat()).toMatchObject([
      { outcome: "skipped", code: "insufficient_credits", runId: null },
      { outcome: "skipped", code: "agent_inactive", reason: "The agent is inactive." },
      { outcome: "skipped", code: "organization_suspended" },
    ]);
  });

  it("waits for its delay", async () => {
    const tenant = await createTenant(world);
    const { id } = await createSchedule(world, tenant, { jitterSeconds: 600 });
    const dueAt = await nextHour();
    const [tick] = await ticksOf(id);
    const delay = (tick?.attemptAt.getTime() ?? 0) - dueAt.getTime();
    expect(delay).toBeGreaterThan(1000);
    expect(delay).toBeLessThan(600_000);
    expect(tick?.outcome).toBeNull();
    clock.advance(600_000);
    await runDueSchedules(world);
    expect(await outcomesOf(id)).toEqual(["started"]);
  });

  it("starts in time if the delay may be longer than the interval", async () => {
    const tenant = await createTenant(world);
    const rule = { cron: "*/5 * * * *", overlap: "allow", jitterSeconds: 900, catchUpSeconds: 300 } as const;
    const { id } = await createSchedule(world, tenant, rule);
    for (let minute = 0; minute < 100; minute += 1) {
      clock.advance(60_000);
      await runDueSchedules(world);
    }
    const decided = (await ticksOf(id)).slice(0, -2);
    expect(decided.length).toBeGreaterThan(15);
    for (const { outcome, dueAt, decidedAt } of decided) {
      expect(outcome).toBe("started");
      expect((decidedAt?.getTime() ?? 0) - dueAt.getTime()).toBeLessThanOrEqual(6 * 60_000);
    }
  });

  it("is not made up for after a pause, and a deleted schedule has none", async () => {
    const tenant = await createTenant(world);
    const { id, slug } = await createSchedule(world, tenant);
    dieAt("tick:before");
    await nextHour();
    onPausePoint(null);
    await setSchedulePaused(world, operatorOf(tenant), { id, paused: true });
    await nextHour();
    expect(await outcomesOf(id)).toEqual(["paused"]);
    await setSchedulePaused(world, operatorOf(tenant), { id, paused: false });
    await runDueSchedules(world);
    expect(await outcomesOf(id)).toEqual(["paused"]);
    await nextHour();
    expect(await outcomesOf(id)).toEqual(["paused", "started"]);
    await removeDefinition(world, operatorOf(tenant), { kind: "schedule", slug });
    await nextHour();
    expect(await outcomesOf(id)).toHaveLength(2);
  });
});

describe("while the earlier run is open", () => {
  it("skip starts nothing", async () => {
    const tenant = await createTenant(world);
    const { id } = await createSchedule(world, tenant);
    await nextHour();
    await nextHour();
    const [first, second] = await ticksOf(id);
    expect(second).toMatchObject({ outcome: "skipped", code: "still_running" });
    expect(second?.reason).toContain(first?.runId ?? "?");
    await cancelAll(tenant, id);
    await nextHour();
    expect(await outcomesOf(id)).toEqual(["started", "still_running", "started"]);
  });

  it("queue lets one start wait", async () => {
    const tenant = await createTenant(world);
    const { id } = await createSchedule(world, tenant, { overlap: "queue" });
    for (let hour = 0; hour < 4; hour += 1) await nextHour();
    expect(await outcomesOf(id)).toEqual(["started", null, "queue_full", "queue_full"]);
    await cancelAll(tenant, id);
    clock.advance(QUEUE_POLL_MS);
    await runDueSchedules(world);
    expect(await outcomesOf(id)).toEqual(["started", "started", "queue_full", "queue_full"]);
    expect(await runsOf(id)).toHaveLength(2);
  });

  it("queue keeps the order when a time is due just after the end of the earlier run", async () => {
    const tenant = await createTenant(world);
    const { id } = await createSchedule(world, tenant, { overlap: "queue" });
    await nextHour();
    await nextHour();
    clock.advance(HOUR_MS - 2_500);
    await runDueSchedules(world);
    await cancelAll(tenant, id);
    // The queued start has not looked again.
    clock.advance(2_500);
    await runDueSchedules(world);
    expect(await outcomesOf(id)).toEqual(["started", null, null]);
    for (const expected of [
      ["started", "started", null],
      ["started", "started", "started"],
    ]) {
      clock.advance(QUEUE_POLL_MS);
      await runDueSchedules(world);
      expect(await outcomesOf(id)).toEqual(expected);
      await cancelAll(tenant, id);
    }
    expect(await runsOf(id)).toHaveLength(3);
  });

  it("allow starts another one", async () => {
    const tenant = await createTenant(world);
    const { id } = await createSchedule(world, tenant, { overlap: "allow" });
    await nextHour();
    await nextHour();
    expect(await outcomesOf(id)).toEqual(["started", "started"]);
  });
});

describe("after an outage", () => {
  it("starts what is due within the window; the rest is missed", async () => {
    const tenant = await createTenant(world);
    const { id } = await createSchedule(world, tenant, { cron: "*/10 * * * *", overlap: "allow" });
    await nextHour();
    await db.scheduleTick.deleteMany({ where: { scheduleId: id } });
    clock.advance(3 * HOUR_MS);
    await runDueSchedules(world);
    const codes = await outcomesOf(id);
    expect(codes.filter((code) => code === "too_late")).toHaveLength(12);
    expect(codes.slice(12)).toEqual(Array.from({ length: 6 }, () => "started"));
  });

  it("starts at most 100 of a schedule, and records every due time", async () => {
    const tenant = await createTenant(world, { credits: "10000" });
    const rule = { cron: "* * * * *", overlap: "allow", catchUpSeconds: 10_800 } as const;
    const { id } = await createSchedule(world, tenant, rule);
    clock.advance(8 * HOUR_MS);
    await runDueSchedules(world);
    const codes = await outcomesOf(id);
    expect(codes).toHaveLength(480);
    const count = (code: string) => codes.filter((each) => each === code).length;
    expect(count("started")).toBe(100);
    expect(count("too_many")).toBe(80);
    expect(count("too_late")).toBe(300);
  });

  it("misses what no process decided within the window", async () => {
    const tenant = await createTenant(world);
    const { id } = await createSchedule(world, tenant);
    dieAt("tick:before");
    await nextHour();
    onPausePoint(null);
    expect(await outcomesOf(id)).toEqual([null]);
    clock.advance(1.5 * HOUR_MS);
    await runDueSchedules(world);
    expect(await outcomesOf(id)).toEqual(["too_late", "started"]);
  });
});

describe("a killed process", () => {
  it("leaves a tick without a run to the others", async () => {
    const tenant = await createTenant(world);
    const { id } = await createSchedule(world, tenant);
    dieAt("tick:before");
    await nextHour();
    onPausePoint(null);
    await runDueSchedules(world);
    expect(await outcomesOf(id)).toEqual([null]);
    clock.advance(LEASE_SECONDS * 1000);
    await runDueSchedules(world);
    expect(await outcomesOf(id)).toEqual(["started"]);
  });

  it.each(["skip", "queue", "allow"] as const)("does not start a run twice: %s", async (overlap) => {
    const tenant = await createTenant(world);
    const { id } = await createSchedule(world, tenant, { overlap });
    dieAt("tick:after");
    await nextHour();
    onPausePoint(null);
    const [run] = await runsOf(id);
    expect(run).toBeDefined();
    expect(await outcomesOf(id)).toEqual([null]);
    clock.advance(LEASE_SECONDS * 1000);
    await runDueSchedules(world);
    expect(await ticksOf(id)).toMatchObject([{ outcome: "started", runId: run?.id }]);
    expect(await runsOf(id)).toHaveLength(1);
  });

  it("costs and repeats no tick of three workers", async () => {
    const workers = [world, await createWorld({ beside: world }), await createWorld({ beside: world })];
    onTestFinished(async () => {
      for (const worker of workers.slice(1)) await worker.close();
    });
    const tenant = await createTenant(world, { credits: "10000" });
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      ids.push((await createSchedule(world, tenant, { cron: "* * * * *", overlap: "allow" })).id);
    }
    const minutes = 6;
    for (let minute = 0; minute < minutes; minute += 1) {
      dieAt(minute % 2 === 0 ? "tick:before" : "tick:after", { every: 3 });
      clock.advance(60_000);
      await Promise.all(workers.map((worker) => runDueSchedules(worker)));
    }
    onPausePoint(null);
    for (let left = 0; left < minutes; left += 1) {
      await Promise.all(workers.map((worker) => runDueSchedules(worker)));
      await db.schedule.updateMany({ data: { nextAt: null } });
      clock.advance(LEASE_SECONDS * 1000);
    }
    const ticks = (await Promise.all(ids.map(ticksOf))).flat();
    const runs = (await Promise.all(ids.map(runsOf))).flat();
    expect(ticks.every(({ outcome }) => outcome === "started")).toBe(true);
    expect(ticks).toHaveLength(ids.length * minutes);
    expect(runs.map(({ id }) => id).sort()).toEqual(ticks.map(({ runId }) => runId).sort());
  });
});

it("metrics count the runs of a schedule", async () => {
  // Metrics find runs by their ids, which have the machine's time.
  clock.set(new Date());
  const tenant = await createTenant(world);
  const { id } = await createSchedule(world, tenant);
  await createSchedule(world, tenant);
  await nextHour();
  const { schedules } = await readRunMetrics(world, tenant, { period: "24h" });
  expect(schedules.map(({ name, runs }) => [name, runs])).toEqual([
    ["Hourly", 1],
    ["Hourly", 1],
  ]);
  const subject = { dimension: "schedule", id } as const;
  const { total } = await readRunMetrics(world, tenant, { period: "24h", subject });
  expect(total.runs).toBe(1);
});

it("the timer wakes when a schedule changes", async () => {
  const tenant = await createTenant(world);
  world.notifications.open();
  await expect.poll(() => world.notifications.connected()).toBe(true);
  const { id } = await createSchedule(world, tenant);
  clock.advance(HOUR_MS);
  onTestFinished(startScheduleTimer(world));
  await expect.poll(() => outcomesOf(id)).toEqual(["started"]);
  // Its next look is in an hour, at most in a minute.
  clock.advance(HOUR_MS);
  await createSchedule(world, tenant);
  await expect.poll(() => outcomesOf(id)).toEqual(["started", "still_running"]);
});

it("ticks are removed after the plan's retention", async () => {
  const tenant = await createTenant(world, { plan: { retentionDays: 1 } });
  const { id } = await createSchedule(world, tenant);
  await nextHour();
  expect(await outcomesOf(id)).toEqual(["started"]);
  await db.schedule.updateMany({ data: { nextAt: null } });
  clock.advance(25 * HOUR_MS);
  await removeExpired(world, () => true);
  expect(await ticksOf(id)).toEqual([]);
});
