import { afterAll, expect, it } from "vitest";
import { inspectRun } from "@/server/runs/read/inspect/inspect";
import { inspectCall } from "@/server/runs/read/inspect/inspect-line";
import { startRun } from "@/server/runs/start";
import { createModels } from "@/server/work/models/registry";
import { testClock } from "@/testing/clock";
import { executeRun } from "@/testing/execute";
import { createMember } from "@/testing/runs";
import { startModelServer } from "@/testing/servers/model-server";
import { createTenant, openWorld, type Tenant } from "@/testing/world";

const server = await startModelServer();
afterAll(() => server.close());
const clock = testClock();
let sleepers: (() => void)[] = [];
const sleep = (_ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    sleepers.push(resolve);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
function pass(ms: number): void {
  clock.advance(ms);
  const woken = sleepers;
  sleepers = [];
  for (const wake of woken) wake();
}
const world = await openWorld({
  models: createModels({ openai: { apiKey: "sk-test", baseUrl: server.url }, clock, sleep }),
});

async function start(tenant: Tenant, userMessage: string) {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const { runId } = await startRun(world, actor, { kind: "agent", targetId: tenant.agentId, userMessage });
  const viewer = await createMember(world, tenant, "viewer");
  const ended = executeRun(world, runId);
  return {
    ended,
    read: async () => {
      const { run, calls } = await inspectRun(world, viewer, { runId });
      const [call] = calls;
      const detail = call && (await inspectCall(world, viewer, { runId, callId: call.id }));
      return { status: run.status, line: call?.attempts, attempts: detail?.attempts ?? [] };
    },
  };
}

it("a slow-down holds back all calls of the organization, as a wait and not as an error", async () => {
  const [tenant, stranger] = [await createTenant(world), await createTenant(world)];
  server.script("hasty", [{ status: 429, message: "slow down", retryAfter: 30 }, { content: "ok" }]);
  const hasty = await start(tenant, "hasty");
  await expect.poll(async () => (await hasty.read()).attempts).toHaveLength(1);
  const asked = server.requests.length;

  const next = await start(tenant, "next");
  const waits = { waited: true, error: null, retryAt: expect.any(String) };
  await expect.poll(next.read).toMatchObject({ status: "Running", line: [waits], attempts: [waits] });
  expect(server.requests).toHaveLength(asked);
  const other = await start(stranger, "stranger");
  await other.ended;
  expect(await other.read()).toMatchObject({ status: "Completed", attempts: [{ error: null }] });

  pass(30_000);
  await expect
    .poll(async () => {
      pass(1_000);
      return [await hasty.read(), await next.read()].map(({ status }) => status);
    })
    .toEqual(["Completed", "Completed"]);
  await Promise.all([hasty.ended, next.ended]);
  const { attempts } = await next.read();
  expect(attempts).toMatchObject([{ waited: true, error: null }, { error: null }]);
  expect(attempts[0]?.durationMs).toBeGreaterThanOrEqual(30_000);
  expect(attempts[0]).not.toHaveProperty("retryAt");
  expect((await hasty.read()).attempts).toMatchObject([
    { error: expect.stringContaining("slow down"), retryAt: expect.any(String) },
    { error: null },
  ]);
});
