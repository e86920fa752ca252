// @module-tag once
import { expect, it } from "vitest";
import { RUN_PERIODS } from "@/server/runs/read/enums";
import { countSettledRuns } from "@/server/runs/read/find/count";
import type { RunFilter } from "@/server/runs/read/find/filter";
import { listRuns, type RunSummary } from "@/server/runs/read/list";
import type { RunFigures } from "@/server/runs/read/metrics/figures";
import { readRunMetrics } from "@/server/runs/read/metrics/metrics";
import { createMember, insertRun } from "@/testing/runs";
import { createTenant, createTrigger, openWorld } from "@/testing/world";
import { filterOf, intervalsOf } from "./address";
import { figureFilters } from "./figures";

const world = await openWorld();
const tenant = await createTenant(world, { plan: { retentionDays: 1000 } });
const actor = await createMember(world, tenant, "viewer");
const { id: triggerId } = await createTrigger(world, tenant);
for (let n = 0; n < 80; n += 1) {
  const source = (["operator", "api", "webhook"] as const)[n % 3] ?? "operator";
  await insertRun(world, tenant, {
    kind: n % 4 === 0 ? "tool" : "agent",
    status: (["Completed", "Completed", "Failed", "Cancelled"] as const)[n % 4] ?? "Completed",
    source,
    ...(source === "webhook" ? { triggerId } : {}),
    createdAt: new Date(world.clock.now().getTime() - (n ** 3 / 80 ** 3) * 95 * 86_400_000),
    durationMs: 10 * (n + 1) ** 2,
    tokens: n % 5 === 0 ? 0 : n,
    credits: n % 7 === 0 ? "0" : (n / 10).toFixed(4),
  });
}
// A run in progress: it has used credits and taken longer than many, but has not ended.
await insertRun(world, tenant, {
  status: "Running",
  kind: "agent",
  source: "webhook",
  triggerId,
  createdAt: new Date(world.clock.now().getTime() - 70_000),
  tokens: 7_000,
  credits: "3.5",
});
await countSettledRuns(world);

async function listAll(filter: RunFilter): Promise<RunSummary[]> {
  const { items, nextCursor } = await listRuns(world, actor, { filter, limit: 200 });
  expect(nextCursor).toBeNull();
  return items;
}

async function expectListsOf(figures: RunFigures, within: RunFilter): Promise<void> {
  const behind = figureFilters(figures);
  const list = (field: keyof typeof behind) => listAll({ ...within, ...behind[field] });
  for (const field of ["runs", "completed", "failed", "cancelled", "open"] as const) {
    expect((await list(field)).length, field).toBe(figures[field]);
  }
  expect(await list("success")).toHaveLength(figures.completed + figures.failed);
  const tokens = (await list("tokens")).map((run) => run.tokens);
  expect(tokens.reduce((sum, each) => sum + each, 0)).toBe(figures.tokens);
  const credits = (await list("credits")).map((run) => Number(run.credits));
  expect(credits.reduce((sum, each) => sum + each, 0)).toBeCloseTo(Number(figures.credits), 4);
  const all = (await list("runs")).filter((run) => run.finishedAt !== null).map(durationOf);
  if (all.length === 0) return;
  // The list contains the percentile's run and all slower ones, and no run below the percentile's class.
  all.sort((a, b) => a - b);
  for (const [field, share] of [
    ["p50", 0.5],
    ["p95", 0.95],
  ] as const) {
    const exact = all[Math.ceil(all.length * share) - 1] ?? 0;
    const listed = (await list(field)).map(durationOf);
    expect(listed.length, field).toBeGreaterThanOrEqual(all.filter((each) => each >= exact).length);
    expect(Math.min(...listed), field).toBeGreaterThanOrEqual(exact / 1.02);
    expect(Math.abs((figures[field] ?? 0) - exact)).toBeLessThanOrEqual(exact * 0.01 + 1);
  }
}

function durationOf({ startedAt, finishedAt }: RunSummary): number {
  return Date.parse(finishedAt ?? "") - Date.parse(startedAt ?? "");
}

it.each(RUN_PERIODS)("links the figures of %s to the runs that they count", async (period) => {
  for (const interval of intervalsOf(period)) {
    const metrics = await readRunMetrics(world, actor, { period, interval });
    expect(metrics.buckets.length).toBeGreaterThan(5);
    expect(metrics.buckets.length).toBeLessThanOrEqual(100);
    expect(metrics.buckets[0]?.from).toBe(metrics.from);
    expect(metrics.buckets.at(-1)?.to).toBe(metrics.to);
    expect(metrics.buckets.reduce((sum, bucket) => sum + bucket.runs, 0)).toBe(metrics.total.runs);
    await expectListsOf(metrics.total, { from: metrics.from, to: metrics.to });
    const busiest = [...metrics.buckets].sort((a, b) => b.runs - a.runs)[0];
    if (!busiest) throw new Error("There is no bar.");
    await expectListsOf(busiest, { from: busiest.from, to: busiest.to });
  }
  const metrics = await readRunMetrics(world, actor, { period });
  for (const dimension of ["agent", "tool", "trigger", "key"] as const) {
    const [line] = metrics[`${dimension}s`];
    if (!line) throw new Error(`There are no figures by ${dimension}.`);
    const subject = { dimension, id: line.id };
    await expectListsOf(line, { ...filterOf(subject), from: metrics.from, to: metrics.to });
    const alone = await readRunMetrics(world, actor, { period, subject });
    expect(alone.subject).toEqual({ ...subject, name: line.name, isDeleted: false });
    expect({ ...alone.total, id: line.id, name: line.name }).toEqual(line);
  }
});

it("reveals nothing about another organization's agent, not even its name", async () => {
  const other = await createTenant(world);
  await insertRun(world, other, { kind: "agent" });
  const subject = { dimension: "agent", id: other.agentId } as const;
  const metrics = await readRunMetrics(world, actor, { period: "24h", subject });
  expect(metrics.total.runs).toBe(0);
  expect(metrics.subject).toEqual({ ...subject, name: "deleted", isDeleted: true });
});

it("marks a deleted agent, which has no page, but still has its name", async () => {
  const tenant = await createTenant(world);
  const { agentId: id, orgId } = tenant;
  const where = { id };
  const { name } = await world.db.agent.update({ where, data: { deletedAt: world.clock.now() } });
  const subject = { dimension: "agent", id } as const;
  const metrics = await readRunMetrics(world, { orgId }, { period: "24h", subject });
  expect(metrics.subject).toEqual({ ...subject, name, isDeleted: true });
});
