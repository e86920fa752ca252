import { expect, it, onTestFinished } from "vitest";
import { handleRest } from "@/server/api/rest";
import { handleWebhook } from "@/server/api/webhook";
import { DAY_MS } from "@/server/base/clock";
import { newId } from "@/server/base/ids";
import { onPausePoint } from "@/server/base/pause-points";
import { removeDefinition } from "@/server/catalog/archive";
import { CallbackDispatcher } from "@/server/catalog/callbacks/send/dispatcher";
import { rotateTriggerSecret } from "@/server/catalog/change-trigger";
import { refundRun } from "@/server/credits/refund";
import { planFork } from "@/server/runs/fork/plan-fork";
import { startFork } from "@/server/runs/fork/start-fork";
import { indexEndedRuns } from "@/server/runs/read/find/run-index";
import { startRun } from "@/server/runs/start";
import { insertCallback as createCallback } from "@/testing/callbacks";
import { executeRun } from "@/testing/execute";
import { createMember } from "@/testing/runs";
import { createTenant, createTrigger, openWorld, scriptedModels, type Tenant } from "@/testing/world";
import { createJobs } from "./jobs";
import { executeJobNow } from "./maintenance";
import { removeExpired } from "./retention";

const world = await openWorld({
  models: scriptedModels(({ messages }) => {
    const asked = messages.some(({ role }) => role === "tool");
    return asked ? {} : { toolCalls: [{ id: "a", name: "adder", arguments: '{"a":1,"b":2}' }] };
  }),
});
// Retention finds old runs by their ids, which have the machine's time.
world.clock.set(new Date());

const operator = ({ orgId }: Tenant) => ({ kind: "operator", orgId, name: "test" }) as const;

async function live(tenant: Tenant): Promise<string> {
  const headers = { "X-API-Key": tenant.key, "Content-Type": "application/json", "Idempotency-Key": "once" };
  const body = '{"userMessage":"Add"}';
  const request = new Request(`http://stepwell.test/v1/agents/run/${tenant.agentId}`, {
    method: "POST",
    headers,
    body,
  });
  const { id } = await (await handleRest(world, request)).json();
  await executeRun(world, id);
  const { token } = await createTrigger(world, tenant);
  await handleWebhook(
    world,
    new Request(`http://stepwell.test/webhooks/${token}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: "not JSON",
    }),
  );
  return id;
}

async function insertCallback({ orgId: organizationId }: Tenant, deletedAt: Date | null) {
  const createdAt = world.clock.now();
  const endpoint = { name: "ERP", url: "https://erp.test", events: [], createdAt, updatedAt: createdAt };
  const event = { organizationId, type: "run.completed", createdAt };
  await world.db.callbackEndpoint.create({
    data: {
      ...endpoint,
      id: newId(),
      organizationId,
      slug: "erp",
      deletedAt,
      deliveries: {
        create: {
          id: newId(),
          organizationId,
          createdAt,
          event: { create: { id: newId(), ...event } },
          attempt: { create: { number: 1, at: createdAt, durationMs: 1 } },
        },
      },
    },
  });
}

it("removes old events of callbacks with their deliveries, and then deleted callbacks", async () => {
  const short = await createTenant(world, { plan: { retentionDays: 7 } });
  const long = await createTenant(world, { plan: { retentionDays: 30 } });
  await insertCallback(short, null);
  await insertCallback(short, world.clock.now());
  await insertCallback(long, null);
  world.clock.advance(7 * DAY_MS + 1);
  expect((await removeExpired(world))?.rows).toMatchObject({ callbackEvents: 2, callbackEndpoints: 1 });
  const left = await world.db.callbackDelivery.findMany({ select: { organizationId: true } });
  expect(left).toEqual([{ organizationId: long.orgId }]);
  expect(await world.db.callbackAttempt.count()).toBe(1);
  expect(await world.db.callbackEndpoint.count({ where: { organizationId: short.orgId } })).toBe(1);
});

it("keeps a callback's event and its run while it is sent, for four days at most", async () => {
  const tenant = await createTenant(world, { plan: { retentionDays: 1 } });
  const { id } = await createCallback(world, tenant, { url: "https://erp.test" });
  const runId = await live(tenant);
  const fetch = () => Promise.resolve(new Response("", { status: 500 }));
  const dispatcher = new CallbackDispatcher({ ...world, fetch });
  const left = async () => {
    await removeExpired(world);
    const events = await world.db.callbackEvent.count({ where: { organizationId: tenant.orgId } });
    return { events, runs: await world.db.run.count({ where: { rootRunId: runId } }) };
  };
  await dispatcher.turn();
  await dispatcher.settle();
  world.clock.advance(DAY_MS + 1);
  expect(await left()).toEqual({ events: 1, runs: 2 });
  await dispatcher.turn();
  await dispatcher.settle();
  const where = { endpointId: id, nextAt: { not: null } };
  expect(await world.db.callbackDelivery.findMany({ where })).toMatchObject([{ attempts: 2 }]);
  world.clock.advance(3 * DAY_MS);
  expect(await left()).toEqual({ events: 0, runs: 0 });
});

it("ends the deliveries of a deleted callback, and keeps the callback for the retention period", async () => {
  const tenant = await createTenant(world, { plan: { retentionDays: 1 } });
  const { id } = await createCallback(world, tenant, { url: "https://erp.test" });
  await live(tenant);
  const stop = new Error("not sent");
  onPausePoint(async (point) => {
    if (point === "callback:expanded") throw stop;
  });
  onTestFinished(() => onPausePoint(null));
  await expect(new CallbackDispatcher(world).turn()).rejects.toThrow(stop);
  const waiting = () => world.db.callbackDelivery.count({ where: { endpointId: id, nextAt: { not: null } } });
  expect(await waiting()).toBe(1);
  const scopes = ["definitions:write", "runs:read"];
  await world.db.apiKey.update({ where: { id: tenant.apiKeyId }, data: { scopes } });
  const remove = async () => {
    const request = new Request(`http://stepwell.test/v1/callbacks/${id}`, {
      method: "DELETE",
      headers: { "X-API-Key": tenant.key },
    });
    return (await handleRest(world, request)).status;
  };
  expect(await remove()).toBe(200);
  await removeExpired(world);
  expect(await waiting()).toBe(0);
  world.clock.advance(DAY_MS);
  await removeExpired(world);
  expect(await remove()).toBe(200);
  world.clock.advance(1);
  await removeExpired(world);
  expect(await remove()).toBe(404);
});

it("removes expired signing secrets of triggers, and those of an archived one at once", async () => {
  const tenant = await createTenant(world);
  const { id } = await createTrigger(world, tenant, { secrets: ["first"] });
  const secrets = () => world.db.triggerSecret.count({ where: { triggerId: id } });
  await rotateTriggerSecret(world, operator(tenant), { id, overlapSeconds: 60 });
  world.clock.advance(59_999);
  await removeExpired(world);
  expect(await secrets()).toBe(2);
  world.clock.advance(1);
  await removeExpired(world);
  expect(await secrets()).toBe(1);
  await removeDefinition(world, operator(tenant), { kind: "trigger", id });
  expect(await secrets()).toBe(0);
});

async function countOf({ orgId: organizationId }: Tenant) {
  const where = { organizationId };
  const { db } = world;
  return {
    runs: await db.run.count({ where }),
    steps: await db.step.count({ where }),
    modelCalls: await db.modelCall.count({ where }),
    indexEntries: await db.runIndexEntry.count({ where }),
    configurations: await db.configuration.count({ where }),
    deliveries: await db.delivery.count({ where }),
    idempotencyKeys: await db.idempotencyKey.count({ where }),
  };
}

it("removes expired data with whole trees of runs, and keeps the ledger, open runs and other organizations' data", async () => {
  const short = await createTenant(world, { plan: { retentionDays: 7 } });
  const long = await createTenant(world, { plan: { retentionDays: 30 } });
  const gone = await live(short);
  await live(long);
  const request = { kind: "tool", targetId: short.toolId, input: { a: 1, b: 2 } } as const;
  const { runId: open } = await startRun(world, operator(short), request);
  await indexEndedRuns(world);
  const all = {
    runs: 2,
    steps: 2,
    modelCalls: 2,
    indexEntries: 2,
    configurations: 2,
    deliveries: 1,
    idempotencyKeys: 1,
  };
  expect(await countOf(long)).toEqual(all);
  expect(await countOf(short)).toEqual({ ...all, runs: 3 });
  const ledger = await world.db.creditEntry.findMany({ where: { organizationId: short.orgId } });

  world.clock.advance(7 * DAY_MS);
  // Only the idempotency keys, which last a day, have expired.
  await removeExpired(world);
  expect(await countOf(short)).toEqual({ ...all, runs: 3, idempotencyKeys: 0 });

  world.clock.advance(1);
  const removed = await removeExpired(world);
  expect(removed?.rows).toMatchObject({ runs: 2, deliveries: 1, configurations: 1 });
  // The open run still uses the tool's configuration.
  expect(await countOf(short)).toEqual({
    runs: 1,
    steps: 0,
    modelCalls: 0,
    indexEntries: 0,
    configurations: 1,
    deliveries: 0,
    idempotencyKeys: 0,
  });
  expect(await world.db.run.findUniqueOrThrow({ where: { id: open } })).toMatchObject({ status: "Pending" });
  expect(await world.db.creditEntry.findMany({ where: { organizationId: short.orgId } })).toEqual(ledger);
  expect(await countOf(long)).toEqual({ ...all, idempotencyKeys: 0 });

  // The charge of a deleted run can be refunded.
  const charged = ledger.find(({ runId, kind }) => runId === gone && kind === "charge")?.amount;
  const { refunded, isDeleted } = await refundRun(world, operator(short), { runId: gone, note: "late" });
  expect([refunded.toString(), isDeleted]).toEqual([charged?.neg().toString(), true]);
});

it("keeps the tree of a run while an open fork reads its steps", async () => {
  const tenant = await createTenant(world, { plan: { retentionDays: 7 } });
  const rootRunId = await live(tenant);
  const child = await world.db.run.findFirstOrThrow({ where: { parentRunId: rootRunId } });
  world.clock.advance(7 * DAY_MS);
  const member = await createMember(world, tenant);
  const request = { runId: child.id, fromStep: 1, changes: {}, tools: "recorded" } as const;
  const plan = await planFork(world, member, request);
  const { runId } = await startFork(world, member, { plan });
  world.clock.advance(1);
  const left = async () => {
    await removeExpired(world);
    return world.db.run.count({ where: { rootRunId } });
  };
  expect(await left()).toBe(2);
  await executeRun(world, runId);
  expect(await world.db.run.findUniqueOrThrow({ where: { id: runId } })).toMatchObject({
    output: child.output,
  });
  expect(await left()).toBe(0);
});

it("removes more than one batch, in one process at a time", async () => {
  const tenant = await createTenant(world, { plan: { retentionDays: 1 } });
  const at = world.clock.now();
  await world.pool.query(
    `INSERT INTO deliveries (id, organization_id, trigger_id, received_at, outcome, status, code, reason, headers, body, body_bytes)
     SELECT gen_random_uuid(), $1, $2, $3, 'rejected', 400, 'invalid_request', 'x', '{}', ''::bytea, 0 FROM generate_series(1, 950)`,
    [tenant.orgId, (await createTrigger(world, tenant)).id, at],
  );
  world.clock.advance(DAY_MS + 1);
  const passes = await Promise.all(Array.from({ length: 4 }, () => removeExpired(world)));
  expect(
    passes.filter((pass) => pass !== null).reduce((sum, { rows }) => sum + (rows.deliveries ?? 0), 0),
  ).toBe(950);
  expect(passes).toContain(null);
  expect((await removeExpired(world))?.rows).toMatchObject({ deliveries: 0 });
});

it("never fails a start whose configuration is removed meanwhile", async () => {
  const tenant = await createTenant(world, { plan: { retentionDays: 1 } });
  const request = { kind: "tool", targetId: tenant.toolId, input: { a: 1, b: 2 } } as const;
  const { runId } = await startRun(world, operator(tenant), request);
  await executeRun(world, runId);
  world.clock.advance(DAY_MS + 1);
  // Pauses a start between its read of the configuration and the check of its reference.
  await world.pool.query(`
    CREATE FUNCTION hold_up() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NULL; END $$;
    CREATE TRIGGER "A first of all" AFTER INSERT ON runs FOR EACH ROW EXECUTE FUNCTION hold_up()`);
  const holder = await world.pool.connect();
  await holder.query("SELECT pg_advisory_lock(42)");
  const started = startRun(world, operator(tenant), request);
  const waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 42 AND NOT granted";
  await expect.poll(async () => (await world.pool.query(waiting)).rowCount).toBe(1);
  expect((await removeExpired(world))?.rows).toMatchObject({ configurations: 1 });
  await holder.query("SELECT pg_advisory_unlock(42)");
  holder.release();
  expect(await started).toMatchObject({ runId: expect.any(String), replay: null });
  expect(await countOf(tenant)).toMatchObject({ runs: 1, configurations: 1 });
});

it("leaves a configuration that a start uses again at this moment, and goes on", async () => {
  const tenant = await createTenant(world, { plan: { retentionDays: 7 } });
  await live(tenant);
  const old = { organizationId: tenant.orgId, hash: new Uint8Array(32), document: "{}" };
  await world.db.configuration.create({ data: { ...old, createdAt: new Date(Date.now() - 30 * DAY_MS) } });
  const starting = await world.pool.connect();
  await starting.query("BEGIN");
  await starting.query(
    `INSERT INTO runs SELECT (jsonb_populate_record(r, jsonb_build_object('id', $2::text, 'root_run_id', $2::text, 'configuration_hash', $3::text))).*
     FROM runs r WHERE organization_id = $1 AND parent_run_id IS NULL`,
    [tenant.orgId, newId(), `\\x${"00".repeat(32)}`],
  );
  const removing = removeExpired(world);
  await expect
    .poll(async () => {
      const waiting =
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
      return (await world.pool.query(waiting)).rowCount;
    })
    .toBe(1);
  await starting.query("COMMIT");
  starting.release();
  expect((await removing)?.rows).toMatchObject({ configurations: 0, verifications: 0 });
  const { organizationId, hash } = old;
  await world.db.configuration.findUniqueOrThrow({
    where: { organizationId_hash: { organizationId, hash } },
  });
});

it("goes on with fewer rows when a batch takes too long, and with other kinds when one fails", async () => {
  const tenant = await createTenant(world, { plan: { retentionDays: 1 } });
  const at = world.clock.now();
  await world.pool.query(
    `INSERT INTO deliveries (id, organization_id, trigger_id, received_at, outcome, status, code, reason, headers, body, body_bytes)
     SELECT gen_random_uuid(), $1, $2, $3, 'rejected', 400, 'invalid_request', 'x', '{}', ''::bytea, 0 FROM generate_series(1, 30)`,
    [tenant.orgId, (await createTrigger(world, tenant)).id, at],
  );
  await world.db.verification.create({
    data: { id: newId(), identifier: "x", value: "x", expiresAt: at, createdAt: at, updatedAt: at },
  });
  world.clock.advance(DAY_MS + 1);
  // As a statement that takes too long: more than two rows at once.
  await world.pool.query(`
    CREATE FUNCTION limit_deletes() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN IF (SELECT count(*) FROM gone) > 2 THEN RAISE EXCEPTION 'too slow' USING ERRCODE = '57014'; END IF; RETURN NULL; END $$;
    CREATE TRIGGER limit_deletes AFTER DELETE ON deliveries REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION limit_deletes();
    CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'rejected'; END $$;
    CREATE TRIGGER reject BEFORE DELETE ON sessions FOR EACH STATEMENT EXECUTE FUNCTION reject()`);
  expect(await removeExpired(world)).toMatchObject({ errors: [{ message: "rejected" }], more: false });
  expect(await countOf(tenant)).toMatchObject({ deliveries: 0 });
  expect(await world.db.verification.count()).toBe(0);
  expect(await executeJobNow(world, "remove_expired")).toMatchObject({ failed: true });
  // Ends while much is left: the next pass follows immediately, although a kind failed.
  const job = createJobs(world).find(({ name }) => name === "remove_expired");
  const { length } = world.log.entries;
  const untilFailed = () => world.log.entries.length === length;
  expect(await job?.work(untilFailed)).toMatchObject({ more: true, error: { message: "rejected" } });
  await world.pool.query("DROP TRIGGER limit_deletes ON deliveries; DROP TRIGGER reject ON sessions");
});
