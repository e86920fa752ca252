import { createHash } from "node:crypto";
import { afterAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { withFunctionNames } from "@/server/base/db/functions";
import { onPausePoint } from "@/server/base/pause-points";
import { createGuardedEgress } from "@/server/guard/egress/guarded-fetch";
import { startRun } from "@/server/runs/start";
import { insertCallback } from "@/testing/callbacks";
import { executeRun } from "@/testing/execute";
import { startCallbackReceiver } from "@/testing/servers/callback-receiver";
import { countTableReads } from "@/testing/table-reads";
import { createTenant, openWorld, type Tenant } from "@/testing/world";
import { CallbackDispatcher } from "./dispatcher";

const hashOf = (host: string) => createHash("sha256").update(host).digest()[0];

const stalled = await startCallbackReceiver();
let quick = await startCallbackReceiver();
while (hashOf(quick.host) === hashOf(stalled.host)) {
  await quick.close();
  quick = await startCallbackReceiver();
}
afterAll(() => Promise.all([stalled.close(), quick.close()]));

const hosts = [stalled.host, quick.host];
const egress = createGuardedEgress({ allow: hosts });
afterAll(() => egress.close());
const world = await openWorld({ env: { EGRESS_ALLOW: hosts.join(",") }, fetch: egress.fetch });
const dispatcher = new CallbackDispatcher(world);

let tenant: Tenant;
let endStall = () => {};
beforeEach(async () => {
  await world.db.callbackEvent.deleteMany();
  await world.db.callbackEndpoint.deleteMany();
  tenant = await createTenant(world);
  const ended = new Promise<{ status: number }>((resolve) => {
    endStall = () => resolve({ status: 500 });
  });
  stalled.answer = () => ended;
  for (const each of [stalled, quick]) each.received.length = 0;
});

async function runAgents(count: number, callbackUrl: string | null = null): Promise<void> {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  for (let n = 0; n < count; n += 1) {
    const request = { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" } as const;
    const { runId } = await startRun(world, actor, request);
    await world.pool.query("UPDATE runs SET callback_url = $2 WHERE id = $1", [runId, callbackUrl]);
    await executeRun(world, runId);
  }
}

function stopBeforeClaims(): () => void {
  const stop = () => onPausePoint(null);
  onPausePoint(async (point) => {
    if (point === "callback:expanded") throw new Error("killed");
  });
  onTestFinished(stop);
  return stop;
}

// Makes 40 of the organization's delivery, to hosts with different hashes.
const FORTY_RECEIVERS = `
  WITH delivery AS (
    SELECT d.endpoint_id, e.type, e.run_id, e.created_at, e.expanded_at FROM callback_deliveries d JOIN callback_events e ON e.id = d.event_id WHERE d.organization_id = $1
  ), events AS (
    INSERT INTO callback_events (id, organization_id, type, run_id, created_at, expanded_at)
    SELECT gen_random_uuid(), $1, type, run_id, created_at, expanded_at FROM delivery, generate_series(2, 40)
    RETURNING id, created_at
  )
  INSERT INTO callback_deliveries (id, organization_id, event_id, endpoint_id, created_at, next_at, host_hash)
  SELECT gen_random_uuid(), $1, e.id, endpoint_id, e.created_at, e.created_at, row_number() OVER ()
  FROM events e, delivery`;

it("an address of X-Callback-Url that stalls delays no callback and no other address", async () => {
  await runAgents(24, `${stalled.url}/run`);
  await dispatcher.turn();
  await expect.poll(() => stalled.received.length).toBe(4);
  await insertCallback(world, tenant, { url: `${quick.url}/endpoint` });
  await runAgents(1, `${quick.url}/address`);
  await dispatcher.turn();
  await expect
    .poll(() => quick.received.map(({ path }) => path).sort())
    .toEqual(["/hooks/address", "/hooks/endpoint"]);
  expect(stalled.received).toHaveLength(4);
  endStall();
  await dispatcher.settle();
});

it("an address that a backlog waits for is passed by another one in the same turn", async () => {
  await runAgents(24, `${stalled.url}/run`);
  await runAgents(1, `${quick.url}/address`);
  await dispatcher.turn();
  await expect.poll(() => quick.received.length).toBe(1);
  endStall();
  await dispatcher.settle();
});

it("callbacks that stall delay no other one, however many attempts the organization has", async () => {
  for (let n = 1; n <= 6; n += 1) {
    await insertCallback(world, tenant, { url: stalled.url, slug: `stalled-${n}` });
  }
  await runAgents(4);
  await dispatcher.turn();
  // Twenty of one organization.
  await expect.poll(() => stalled.received.length).toBe(20);
  await insertCallback(world, tenant, { url: quick.url, slug: "quick" });
  await runAgents(1);
  await dispatcher.turn();
  await expect.poll(() => quick.received.length).toBe(1);
  expect(stalled.received).toHaveLength(20);
  endStall();
  await dispatcher.settle();
});

it("two organizations whose receivers all stall leave attempts to a third one", async () => {
  const stop = stopBeforeClaims();
  for (let n = 0; n < 2; n += 1) {
    tenant = await createTenant(world);
    await runAgents(1, `${stalled.url}/run`);
    await expect(dispatcher.turn()).rejects.toThrow("killed");
    await world.pool.query(FORTY_RECEIVERS, [tenant.orgId]);
  }
  stop();
  await dispatcher.turn();
  await dispatcher.turn();
  await expect.poll(() => stalled.received.length).toBe(64);
  tenant = await createTenant(world);
  await runAgents(4, `${quick.url}/run`);
  await dispatcher.turn();
  await expect.poll(() => quick.received.length).toBe(4);
  expect(stalled.received).toHaveLength(64);
  endStall();
  await dispatcher.settle();
});

it("a claim looks only for hosts that callbacks wait for", async () => {
  await runAgents(1, `${stalled.url}/run`);
  await runAgents(1, `${quick.url}/run`);
  stopBeforeClaims();
  await expect(dispatcher.turn()).rejects.toThrow("killed");
  const claim = {
    text: withFunctionNames("SELECT claim_callbacks($1, 96, 32, 64, 30)"),
    values: [world.clock.now()],
  };
  const { scans } = await countTableReads(world, "callback_deliveries", async ({ pool }) => {
    expect((await pool.query(claim)).rowCount).toBe(2);
  });
  // Of 256 possible ones.
  expect(scans).toBeLessThan(20);
});
