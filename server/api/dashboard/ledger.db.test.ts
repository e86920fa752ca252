import { afterAll, expect, test } from "vitest";
import { createDashboardCaller } from "@/server/api/dashboard/router";
import { startRun } from "@/server/runs/start";
import { createModels } from "@/server/work/models/registry";
import { testClock } from "@/testing/clock";
import { executeRun } from "@/testing/execute";
import { createMember } from "@/testing/runs";
import { startModelServer } from "@/testing/servers/model-server";
import { createTenant, openWorld, type Tenant } from "@/testing/world";

const server = await startModelServer();
afterAll(() => server.close());
const openai = { apiKey: "sk-test", baseUrl: server.url };
const world = await openWorld({ models: createModels({ openai, clock: testClock() }) });

const ledgerOf = async (tenant: Tenant) => {
  const actor = await createMember(world, tenant, "viewer");
  return createDashboardCaller({ services: world, actor, requestId: "test" }).credits.ledger({});
};

test("the charge of a run has its tokens, and those that came from the provider's cache", async () => {
  const reportOf = (cached: number) => ({
    prompt_tokens: 1_000,
    completion_tokens: 50,
    prompt_tokens_details: { cached_tokens: cached },
  });
  const calls = [{ name: "calculate", arguments: { expression: "1 + 1" } }];
  server.script("cached", { calls, reported: reportOf(300) }, { content: "2", reported: reportOf(900) });
  const tenant = await createTenant(world);
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const ids: string[] = [];
  for (const userMessage of ["cached", "new"]) {
    const start = { kind: "agent", targetId: tenant.agentId, userMessage } as const;
    const { runId } = await startRun(world, actor, start);
    await executeRun(world, runId);
    ids.push(runId);
  }
  const [runId] = ids;
  const { items, runs, cached } = await ledgerOf(tenant);
  expect(items.filter(({ kind }) => kind === "charge").map((line) => line.runId)).toEqual(ids.toReversed());
  expect(runs.find(({ id }) => id === runId)).toMatchObject({ status: "Completed", tokens: 2_100 });
  expect(cached).toEqual([{ runId, tokens: 1_200 }]);
  expect((await ledgerOf(await createTenant(world))).cached).toEqual([]);
});
