import { expect, test } from "vitest";
import { countSettledRuns } from "@/server/runs/read/find/count";
import type { RunFilter } from "@/server/runs/read/find/filter";
import { createMember, insertRun } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";
import { readRunHistogram } from "./histogram";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const world = await openWorld();
const ago = (ms: number) => new Date(world.clock.now().getTime() - ms);

async function fill() {
  const tenant = await createTenant(world, { plan: { retentionDays: 1000 } });
  const actor = await createMember(world, tenant, "viewer");
  const createdAt = ago(3 * HOUR);
  const root = await insertRun(world, tenant, { kind: "agent", source: "api", createdAt });
  await insertRun(world, tenant, { source: "run", parentRunId: root, status: "Failed", createdAt });
  await insertRun(world, tenant, { source: "run", parentRunId: root, createdAt });
  await insertRun(world, tenant, { kind: "agent", source: "api", status: "Failed", createdAt: ago(2 * DAY) });
  await insertRun(world, tenant, { source: "draft", status: "Failed", userId: actor.userId, createdAt });
  await insertRun(world, tenant, { createdAt: ago(40 * DAY) });
  await insertRun(world, tenant, { status: "Running" });
  const look = async (filter: RunFilter) => {
    const histogram = await readRunHistogram(world, actor, { filter });
    const sum = (field: "runs" | "failed") => histogram?.bars.reduce((total, bar) => total + bar[field], 0);
    return histogram && { runs: sum("runs"), failed: sum("failed"), drafts: histogram.drafts };
  };
  return { tenant, actor, look };
}

test("counts root runs or all runs of the last week, and failed ones, before and after they are stored", async () => {
  const { tenant, look } = await fill();
  const lookAtAll = async () => [
    await look({ source: "outside", status: ["Completed"] }),
    await look({}),
    await look({ source: "outside", period: "90d" }),
    await look({ source: "outside", agentId: tenant.agentId }),
    await look({ apiKeyId: tenant.apiKeyId, period: "24h" }),
  ];
  const expected = [
    { runs: 3, failed: 1, drafts: 1 },
    { runs: 5, failed: 2, drafts: 1 },
    { runs: 4, failed: 1, drafts: 1 },
    { runs: 2, failed: 1, drafts: 0 },
    { runs: 1, failed: 0, drafts: 0 },
  ];
  expect(await lookAtAll()).toEqual(expected);
  expect(await countSettledRuns(world)).toBeGreaterThan(0);
  expect(await lookAtAll()).toEqual(expected);
});

test("includes days around fixed times, with smaller bars for shorter times", async () => {
  const { actor } = await fill();
  const read = async (filter: RunFilter) => {
    const histogram = await readRunHistogram(world, actor, { filter });
    const { bars = [], bucketMs = 0 } = histogram ?? {};
    return {
      from: bars[0]?.from ?? "",
      to: bars.at(-1)?.to ?? "",
      hours: bucketMs / HOUR,
      bars: bars.length,
    };
  };
  const noon = new Date(Math.floor(ago(5 * DAY).getTime() / DAY) * DAY + DAY / 2);
  const later = (ms: number) => new Date(noon.getTime() + ms).toISOString();
  const wide = await read({ from: later(-DAY), to: later(DAY) });
  expect(wide).toMatchObject({ hours: 6 });
  expect(wide.from <= later(-2 * DAY)).toBe(true);
  expect(wide.to >= later(2 * DAY)).toBe(true);
  const day = { from: later(-DAY / 2), to: later(DAY / 2), hours: 1, bars: 24 };
  expect(await read({ from: later(0), to: later(6 * HOUR) })).toEqual(day);
  // Times of the future, and in the wrong order, are ignored.
  expect(await read({ from: later(10 * DAY) })).toMatchObject({ hours: 6, bars: 28 });
  expect(await read({ from: later(0), to: later(-HOUR) })).toMatchObject({ hours: 6, bars: 28 });
});

test("is null for what stored counts cannot answer", async () => {
  const { tenant, actor } = await fill();
  const filters: RunFilter[] = [
    { text: "word" },
    { kind: "agent" },
    { source: "webhook" },
    { minDurationMs: 10 },
    { agentId: tenant.agentId, apiKeyId: tenant.apiKeyId },
  ];
  for (const filter of filters) expect(await readRunHistogram(world, actor, { filter })).toBeNull();
});
