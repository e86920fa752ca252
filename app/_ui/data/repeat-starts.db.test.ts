import { createTRPCClient, httpBatchLink } from "@trpc/client";
import { expect, it } from "vitest";
import { respondToDashboard } from "@/server/api/dashboard/respond";
import type { DashboardRouter } from "@/server/api/dashboard/router";
import { START_ID_HEADER } from "@/server/contract/start-id";
import { createMember } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";
import { repeatStarts, startIdOf } from "./repeat-starts";

const world = await openWorld();
const tenant = await createTenant(world);
const actor = await createMember(world, tenant, "member");
let isLost = false;
const client = createTRPCClient<DashboardRouter>({
  links: [
    repeatStarts,
    httpBatchLink({
      url: "http://stepwell.test/api/trpc",
      maxItems: 1,
      headers: ({ opList: [start] }) => ({ [START_ID_HEADER]: startIdOf(start) }),
      async fetch(address, { signal, ...init } = {}) {
        const request = new Request(address, { ...init, signal: signal ?? null });
        const answer = await respondToDashboard(world, request, { actor, sessionId: undefined });
        if (isLost) throw new TypeError("Failed to fetch");
        return answer;
      },
    }),
  ],
});
const findRuns = () =>
  world.db.run.findMany({ where: { organizationId: tenant.orgId }, select: { id: true } });

it("a start without an answer is repeated as the same start; an answered one is over", async () => {
  const start = () => client.runs.start.mutate({ kind: "agent", id: tenant.agentId, input: "Hello" });
  isLost = true;
  await expect(start()).rejects.toThrow("Failed to fetch");
  const [lost] = await findRuns();
  await expect(start()).rejects.toThrow("Failed to fetch");
  isLost = false;
  expect(await start()).toMatchObject({ runId: lost?.id });
  expect(await findRuns()).toHaveLength(1);

  const next = await start();
  expect(next.runId).not.toBe(lost?.id);
  const again = await client.runs.rerun.mutate({ runId: next.runId });
  expect(await findRuns()).toHaveLength(3);
  expect(again.runId).not.toBe(next.runId);
});

it("another input is another start", async () => {
  const before = (await findRuns()).length;
  isLost = true;
  for (const input of ["One", "Two", "One"])
    await client.runs.start.mutate({ kind: "agent", id: tenant.agentId, input }).catch(() => {});
  isLost = false;
  expect(await findRuns()).toHaveLength(before + 2);
});
