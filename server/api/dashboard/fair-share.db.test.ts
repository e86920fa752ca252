import { expect, test, vi } from "vitest";
import { respondToDashboard } from "@/server/api/dashboard/respond";
import { createDashboardCaller } from "@/server/api/dashboard/router";
import { handleRest } from "@/server/api/rest";
import { connect } from "@/server/base/db/client";
import { newId } from "@/server/base/ids";
import { FairQueue } from "@/server/base/scheduling/fair-queue";
import { queueDashboardCall } from "@/server/guard/limits/dashboard-queue";
import { createMember, insertRun } from "@/testing/runs";
import { createKey } from "@/testing/servers/rest-server";
import { createTenant, openWorld, type Tenant } from "@/testing/world";

const world = await openWorld();

async function openDashboard(tenant: Tenant) {
  const { email: _, ...actor } = await createMember(world, tenant, "viewer");
  return (signal?: AbortSignal) =>
    createDashboardCaller({ services: world, actor, requestId: newId() }, { ...(signal && { signal }) });
}

test("a request whose sender left is not executed when its turn comes", async () => {
  const tenant = await createTenant(world);
  const { email: _, ...actor } = await createMember(world, tenant, "owner");
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const busy = Array.from({ length: 6 }, () => queueDashboardCall(world, tenant.orgId, { work: () => gate }));
  const left = new AbortController();
  const request = new Request("http://stepwell.test/api/trpc/organization.rename", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ name: "Renamed" }),
    signal: left.signal,
  });
  const queued = vi.spyOn(FairQueue.prototype, "take");
  const answer = respondToDashboard(world, request, { actor, sessionId: undefined });
  await vi.waitFor(() => expect(queued).toHaveBeenCalled());
  left.abort();
  // The others still hold their turns.
  expect((await answer).ok).toBe(false);
  release();
  await Promise.all(busy);
  queued.mockRestore();
});

test("an organization's slow calls do not stop those of another", async () => {
  const [tenant, other] = [await createTenant(world), await createTenant(world)];
  const [busy, calm] = [await openDashboard(tenant), await openDashboard(other)];
  const runId = await insertRun(world, tenant, { status: "Completed", steps: 1 });
  const lock = await connect(world.env.databaseUrl);
  await lock.query("BEGIN");
  await lock.query("LOCK TABLE steps IN ACCESS EXCLUSIVE MODE");
  let ended = 0;
  const left = new AbortController();
  const searches = Array.from({ length: 60 }, (_, n) =>
    busy(n < 30 ? undefined : left.signal)
      .runs.searchSteps({ runId, text: "any" })
      .then(
        () => "found",
        () => "left",
      )
      .finally(() => {
        ended += 1;
      }),
  );
  expect(await calm().organization.inspect()).toMatchObject({});
  expect(ended).toBe(0);
  left.abort();
  await lock.query("ROLLBACK");
  await lock.end();
  const outcomes = await Promise.all(searches);
  expect(outcomes).toEqual(outcomes.map((_, n) => (n < 30 ? "found" : "left")));
});

test("changes whose bodies do not come do not stop their organization's other calls", async () => {
  const tenant = await createTenant(world);
  const key = await createKey(world, tenant);
  const ask = (path: string, init: RequestInit & { duplex?: "half" } = {}) =>
    handleRest(
      world,
      new Request(`http://stepwell.test${path}`, { ...init, headers: { "X-API-Key": key, ...init.headers } }),
    );
  const bodies: ReadableStreamDefaultController[] = [];
  const changes = Array.from({ length: 6 }, () => {
    const body = new ReadableStream(
      { pull: (controller) => void bodies.push(controller) },
      { highWaterMark: 0 },
    );
    const headers = { "Content-Type": "application/json", "Content-Length": "100" };
    return ask("/v1/apply", { method: "POST", headers, body, duplex: "half" });
  });
  await vi.waitFor(() => expect(bodies).toHaveLength(changes.length), { timeout: 30_000 });
  expect((await ask("/v1/runs")).status).toBe(200);
  const dashboard = await openDashboard(tenant);
  expect(await dashboard().organization.inspect()).toMatchObject({});
  for (const body of bodies) body.error(new Error("the sender left"));
  expect((await Promise.all(changes)).map(({ status }) => status)).toEqual(changes.map(() => 400));
});
