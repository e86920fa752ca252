import { describe, expect, it } from "vitest";
import type { MemberActor } from "@/server/base/actor";
import { RUN_PERIODS } from "@/server/runs/read/enums";
import { countSettledRuns } from "@/server/runs/read/find/count";
import { createMember, insertRun } from "@/testing/runs";
import { createTenant, createTrigger, openWorld, type Tenant } from "@/testing/world";
import { metricsQuestion, readRunMetrics } from "./metrics";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const world = await openWorld();

const ago = (ms: number) => new Date(world.clock.now().getTime() - ms);

async function fill(): Promise<{ tenant: Tenant; actor: MemberActor; triggerId: string }> {
  const tenant = await createTenant(world, { plan: { retentionDays: 1000 } });
  const actor = await createMember(world, tenant, "viewer");
  const { id: triggerId } = await createTrigger(world, tenant);
  for (let n = 0; n < 60; n += 1) {
    const source = (["operator", "api", "webhook"] as const)[n % 3] ?? "operator";
    await insertRun(world, tenant, {
      kind: n % 4 === 0 ? "tool" : "agent",
      status: (["Completed", "Completed", "Failed", "Cancelled"] as const)[n % 4] ?? "Completed",
      source,
      ...(source === "webhook" ? { triggerId } : {}),
      createdAt: ago((60 - n) ** 2 * (100 / 3600) * DAY + 1),
      durationMs: 10 * (n + 1) ** 2,
      tokens: n,
      credits: (n / 10).toFixed(4),
    });
  }
  return { tenant, actor, triggerId };
}

const readAll = async (actor: MemberActor) =>
  Promise.all(RUN_PERIODS.map((period) => readRunMetrics(world, actor, { period })));

describe("metrics", () => {
  it("counts by time, agent, tool, trigger and key", async () => {
    const tenant = await createTenant(world);
    const actor = await createMember(world, tenant, "viewer");
    for (const durationMs of [100, 200, 300, 4000])
      await insertRun(world, tenant, { durationMs, tokens: 10 });
    await insertRun(world, tenant, { status: "Failed", kind: "agent", source: "api", credits: "0.5000" });
    await insertRun(world, tenant, { status: "Running" });
    await insertRun(world, tenant, { createdAt: ago(2 * DAY) });
    const day = await readRunMetrics(world, actor, { period: "24h" });
    expect(day.total).toMatchObject({
      runs: 6,
      completed: 4,
      failed: 1,
      cancelled: 0,
      open: 1,
      tokens: 40,
      credits: "0.5000",
    });
    // Of 100, 100, 200, 300 and 4000 ms; exact to 1 %.
    expect(day.total.p50).toBeGreaterThanOrEqual(198);
    expect(day.total.p50).toBeLessThanOrEqual(202);
    expect(Math.abs((day.total.p95 ?? 0) - 4000)).toBeLessThanOrEqual(40);
    expect(day.buckets).toHaveLength(24);
    expect(day.buckets.at(-1)).toMatchObject({ runs: 6, open: 1 });
    expect(day.agents).toMatchObject([{ id: tenant.agentId, name: "Helper", runs: 1, failed: 1 }]);
    expect(day.tools).toMatchObject([{ id: tenant.toolId, name: "Adder", runs: 5, completed: 4, open: 1 }]);
    expect(day.keys).toMatchObject([{ id: tenant.apiKeyId, runs: 1 }]);
    expect(day.schedules).toEqual([]);
    expect(day.triggers).toEqual([]);
    expect((await readRunMetrics(world, actor, { period: "7d" })).total.runs).toBe(7);
  });

  it("count child runs apart, leave drafts out of rates, and add what called runs used", async () => {
    const tenant = await createTenant(world);
    const actor = await createMember(world, tenant, "viewer");
    const createdAt = ago(3 * HOUR);
    const root = await insertRun(world, tenant, {
      kind: "agent",
      source: "api",
      credits: "1.0000",
      createdAt,
    });
    const child = { source: "run", parentRunId: root, createdAt } as const;
    const middle = await insertRun(world, tenant, { ...child, credits: "0.2000" });
    // An agent that calls itself through a tool: its own use is not counted twice.
    await insertRun(world, tenant, { ...child, parentRunId: middle, kind: "agent", credits: "0.0300" });
    const draft = await insertRun(world, tenant, {
      kind: "agent",
      source: "draft",
      status: "Failed",
      userId: actor.userId,
      credits: "0.5000",
      createdAt,
    });
    // A run of a tool as it is saved, so it is counted, but not as a cost of the agent.
    await insertRun(world, tenant, { ...child, parentRunId: draft, credits: "0.0700" });
    const look = async () => {
      const { total, agents, tools, keys } = await readRunMetrics(world, actor, { period: "24h" });
      return { total, agents, tools, keys };
    };
    const figures = await look();
    expect(figures.total).toMatchObject({ runs: 4, children: 3, drafts: 1, completed: 4, failed: 0 });
    expect(figures.total).toMatchObject({ credits: "1.3000", draftCredits: "0.5000" });
    expect(figures.agents).toMatchObject([
      { runs: 2, children: 1, drafts: 1, failed: 0, credits: "1.0300", creditsWithChildren: "1.2300" },
    ]);
    expect(figures.tools).toMatchObject([{ runs: 2, credits: "0.2700", creditsWithChildren: "0.3000" }]);
    expect(figures.keys).toMatchObject([{ runs: 1, credits: "1.0000", creditsWithChildren: "1.2300" }]);
    await countSettledRuns(world);
    expect(await look()).toEqual(figures);
  });

  it("are the same before and after the runs were counted, for every period", async () => {
    const { actor, triggerId } = await fill();
    const before = await readAll(actor);
    expect(before.at(-1)?.total.runs).toBeGreaterThan(50);
    expect(before.at(-1)?.triggers).toMatchObject([{ id: triggerId }]);
    expect(await countSettledRuns(world)).toBeGreaterThan(90);
    expect(await world.db.runCount.count()).toBeGreaterThan(100);
    expect(await readAll(actor)).toEqual(before);
    expect(await countSettledRuns(world)).toBe(0);
  });

  it("of one agent, tool, trigger or key match its line among all", async () => {
    const { actor } = await fill();
    await countSettledRuns(world);
    const all = await readRunMetrics(world, actor, { period: "90d" });
    for (const dimension of ["agent", "tool", "trigger", "key"] as const) {
      const [line] = all[`${dimension}s`];
      const one = await readRunMetrics(world, actor, {
        period: "90d",
        subject: { dimension, id: line?.id ?? "" },
      });
      expect({ ...one.total, id: line?.id, name: line?.name }).toEqual(line);
      expect(one.buckets.reduce((sum, bucket) => sum + bucket.runs, 0)).toBe(line?.runs);
    }
  });

  it("count an hour once its runs have ended, including late ones", async () => {
    const { tenant, actor } = await fill();
    await insertRun(world, tenant, { status: "Running", createdAt: ago(5 * HOUR) });
    await countSettledRuns(world);
    const until = await world.db.runCountsUntil.findUniqueOrThrow({
      where: { organizationId: tenant.orgId },
    });
    expect(until.until.getTime()).toBeLessThanOrEqual(ago(5 * HOUR).getTime());
    const { total } = await readRunMetrics(world, actor, { period: "24h" });
    expect(total.open).toBe(1);
    const open = { organizationId: tenant.orgId, status: "Running" as const };
    await world.db.run.updateMany({
      where: open,
      data: { status: "Completed", output: "1", finishedAt: world.clock.now(), creditsUsed: "7" },
    });
    expect(await countSettledRuns(world)).toBeGreaterThan(0);
    const after = (await readRunMetrics(world, actor, { period: "24h" })).total;
    expect(after).toMatchObject({ runs: total.runs, open: 0, completed: total.completed + 1 });
    expect(Number(after.credits)).toBeCloseTo(Number(total.credits) + 7, 4);
  });

  it("drop counts beyond the plan's retention", async () => {
    const { tenant } = await fill();
    await countSettledRuns(world);
    await world.db.plan.update({ where: { organizationId: tenant.orgId }, data: { retentionDays: 10 } });
    await countSettledRuns(world);
    const oldest = await world.db.runCount.findFirstOrThrow({
      where: { organizationId: tenant.orgId },
      orderBy: { at: "asc" },
    });
    expect(oldest.at.getTime()).toBeGreaterThanOrEqual(ago(11 * DAY).getTime());
  });
});

describe("a range of days", () => {
  it("counts whole UTC days, and compares with as many days before", async () => {
    const tenant = await createTenant(world);
    const actor = await createMember(world, tenant, "viewer");
    const at = (day: string) => insertRun(world, tenant, { createdAt: new Date(day), credits: "0.5000" });
    await at("2025-12-20T00:00:00Z");
    await at("2025-12-22T23:59:59.999Z");
    await at("2025-12-23T00:00:00Z");
    await at("2025-12-19T23:59:59.999Z");
    const days = { first: "2025-12-20", last: "2025-12-22" };
    const metrics = await readRunMetrics(world, actor, { period: "24h", days });
    expect(metrics.total).toMatchObject({ runs: 2, credits: "1.0000" });
    expect(metrics.before).toMatchObject({ runs: 1, credits: "0.5000" });
    expect(metrics).toMatchObject({ from: "2025-12-20T00:00:00.000Z", to: "2025-12-23T00:00:00.000Z" });
    expect(metrics.buckets).toHaveLength(24);
  });

  it("ends with its last bar, also if the bars do not divide it", async () => {
    const tenant = await createTenant(world);
    const actor = await createMember(world, tenant, "viewer");
    const days = { first: "2025-09-01", last: "2025-12-09" };
    const { buckets, to } = await readRunMetrics(world, actor, { period: "24h", days });
    expect(buckets).toHaveLength(34);
    expect(buckets.at(-1)).toMatchObject({ from: "2025-12-09T00:00:00.000Z", to });
  });

  it("has at most a year, in order", () => {
    const ask = (first: string, last: string) =>
      metricsQuestion.safeParse({ period: "24h", days: { first, last } }).success;
    expect(ask("2025-12-20", "2025-12-20")).toBe(true);
    expect(ask("2025-12-21", "2025-12-20")).toBe(false);
    expect(ask("2024-01-01", "2025-12-20")).toBe(false);
    expect(ask("2025-02-30", "2025-03-01")).toBe(false);
  });
});
