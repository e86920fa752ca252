import { expect, it } from "vitest";
import { newId } from "@/server/base/ids";
import { insertRun } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";
import type { RunFilter } from "./filter";
import { findRunIds } from "./find";
import { indexEndedRuns } from "./run-index";

const world = await openWorld();
const tenant = await createTenant(world);
const now = world.clock.now();
await insertRun(world, tenant, {
  kind: "agent",
  createdAt: new Date(now.getTime() - 2 * 86_400_000),
  durationMs: 5_000,
  tokens: 100,
  credits: "1.0000",
});

/** Of each field, a value that the run does not have. */
const OTHERS: { [Field in keyof Required<RunFilter>]: RunFilter[Field] } = {
  status: ["Failed"],
  kind: "tool",
  source: "api",
  agentId: newId(),
  toolId: newId(),
  targetIds: [newId()],
  triggerId: newId(),
  scheduleId: newId(),
  apiKeyId: newId(),
  userId: newId(),
  period: "24h",
  from: now.toISOString(),
  to: "2000-01-01T00:00:00.000Z",
  minDurationMs: 5_001,
  maxDurationMs: 4_999,
  minTokens: 101,
  maxTokens: 99,
  minCredits: "1.0001",
  maxCredits: "0.9999",
  metadata: { customer: "acme" },
  text: "xylophone",
};
const find = (filter: RunFilter) => findRunIds(world, tenant.orgId, { filter, page: { limit: 1 } });

it.each(["queued", "indexed"])("each field of a filter excludes a run that is %s", async (state) => {
  if (state === "indexed") await indexEndedRuns(world);
  expect(await find({})).toHaveLength(1);
  for (const [field, value] of Object.entries(OTHERS))
    expect(await find({ [field]: value }), field).toEqual([]);
});
