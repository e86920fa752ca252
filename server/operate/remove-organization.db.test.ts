import { expect, test } from "vitest";
import { z } from "zod";
import { newId } from "@/server/base/ids";
import { authenticateKey } from "@/server/catalog/auth/authenticate-key";
import { saveMember } from "@/server/catalog/organization/members";
import { operatorOf } from "@/server/catalog/organization/organizations";
import { removeOrganization } from "@/server/operate/remove-organization";
import { indexEndedRuns } from "@/server/runs/read/find/run-index";
import { startRun } from "@/server/runs/start";
import { insertRun } from "@/testing/runs";
import { createTenant, createTrigger, openWorld, type Tenant } from "@/testing/world";

const world = await openWorld();

async function countRows(orgId: string): Promise<Map<string, number>> {
  const { rows } = await world.pool.query(
    "SELECT table_name AS name FROM information_schema.columns WHERE column_name = 'organization_id' AND table_schema = 'public'",
  );
  const tables = z.array(z.object({ name: z.string() })).parse(rows);
  const counts = new Map<string, number>();
  for (const { name } of tables) {
    const found = await world.pool.query(
      `SELECT count(*)::int AS count FROM ${name} WHERE organization_id = $1`,
      [orgId],
    );
    counts.set(name, z.object({ count: z.number() }).parse(found.rows[0]).count);
  }
  return counts;
}

async function createBusyTenant(email: string): Promise<{ tenant: Tenant; runId: string }> {
  const tenant = await createTenant(world);
  const operator = await operatorOf(world, tenant.slug);
  await saveMember(world, operator, { email, password: "a long password", role: "owner" });
  const { id: triggerId } = await createTrigger(world, tenant, { secrets: ["s3cret"] });
  const actor = await authenticateKey(world, tenant.key);
  const { runId } = await startRun(world, actor, {
    kind: "agent",
    targetId: tenant.agentId,
    userMessage: "Hi",
  });
  await world.db.delivery.create({
    data: {
      id: newId(),
      organizationId: tenant.orgId,
      triggerId,
      receivedAt: world.clock.now(),
      outcome: "accepted",
      status: 200,
      headers: "{}",
      body: new Uint8Array(),
      bodyBytes: 0,
      runId,
    },
  });
  const times = { createdAt: world.clock.now(), updatedAt: world.clock.now() };
  const endpoint = { slug: "erp", name: "ERP", url: "https://erp.test", events: ["run.completed"], ...times };
  const event = { organizationId: tenant.orgId, type: "run.completed", runId, createdAt: times.createdAt };
  await world.db.callbackEndpoint.create({
    data: {
      id: newId(),
      organizationId: tenant.orgId,
      ...endpoint,
      secrets: { create: { id: newId(), sealed: "x", createdAt: times.createdAt } },
      deliveries: {
        create: {
          id: newId(),
          organizationId: tenant.orgId,
          createdAt: times.createdAt,
          event: { create: { id: newId(), ...event } },
          attempt: { create: { number: 1, at: times.createdAt, durationMs: 1 } },
        },
      },
    },
  });
  return { tenant, runId };
}

test("an organization is deleted with everything it owns, and nothing of another one", async () => {
  const { tenant } = await createBusyTenant("ada@removed.test");
  const { tenant: other, runId: otherRun } = await createBusyTenant("eve@other.test");
  await saveMember(world, await operatorOf(world, tenant.slug), { email: "eve@other.test", role: "viewer" });
  const before = await countRows(other.orgId);
  const actor = await operatorOf(world, tenant.slug);

  await expect(removeOrganization(world, actor)).rejects.toMatchObject({
    code: "invalid_request",
    message: "1 run is open. Wait until they end, or cancel them with --force.",
  });
  expect(await removeOrganization(world, actor, { force: true })).toEqual({
    strandedUsers: ["ada@removed.test"],
  });

  expect(await world.db.organization.findUnique({ where: { id: tenant.orgId } })).toBeNull();
  // The index queue has the cancelled run until the next indexing.
  await indexEndedRuns(world);
  const left = [...(await countRows(tenant.orgId))].filter(([, count]) => count > 0);
  expect(left).toEqual([]);
  expect(await countRows(other.orgId)).toEqual(before);
  expect((await world.db.run.findUniqueOrThrow({ where: { id: otherRun } })).status).toBe("Pending");
  await expect(authenticateKey(world, tenant.key)).rejects.toMatchObject({ code: "unauthenticated" });
  const lines = await world.db.auditEntry.findMany({ where: { action: "organization.removed" } });
  expect(lines).toMatchObject([
    { organizationId: null, actor: "operator", subjectId: tenant.orgId, subjectName: tenant.slug },
  ]);
});

test("a run whose process died does not keep its organization", async () => {
  const { tenant, runId } = await createBusyTenant("bob@dead.test");
  const at = world.clock.now();
  await world.db.run.update({
    where: { id: runId },
    data: { status: "Running", admittedAt: at, startedAt: at, claimedBy: "worker-gone" },
  });
  const actor = await operatorOf(world, tenant.slug);
  await removeOrganization(world, actor, { force: true, patienceMs: 300 });
  expect(await world.db.run.count({ where: { organizationId: tenant.orgId } })).toBe(0);
});

test("what starts runs, and most rows, are gone before the organization's row is locked", async () => {
  const { tenant } = await createBusyTenant("fay@locked.test");
  const { orgId, agentId } = tenant;
  const at = world.clock.now();
  await world.db.schedule.create({
    data: {
      id: newId(),
      organizationId: orgId,
      slug: "nightly",
      name: "Nightly",
      agentId,
      input: "Hi",
      cron: "0 3 * * *",
      nextAt: at,
      createdAt: at,
      updatedAt: at,
      ticks: { create: { dueAt: at, attemptAt: at } },
    },
  });
  await world.pool.query(`
    CREATE FUNCTION expect_few_rows() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF EXISTS (SELECT FROM schedules WHERE organization_id = OLD.id AND next_at IS NOT NULL)
        OR EXISTS (SELECT FROM schedule_ticks WHERE organization_id = OLD.id)
        OR EXISTS (SELECT FROM audit_entries WHERE organization_id = OLD.id) THEN RAISE EXCEPTION 'too early';
      END IF;
      RETURN OLD;
    END $$;
    CREATE TRIGGER expect_few_rows BEFORE DELETE ON organizations FOR EACH ROW EXECUTE FUNCTION expect_few_rows()`);
  const actor = await operatorOf(world, tenant.slug);
  await removeOrganization(world, actor, { force: true, patienceMs: 300 });
  expect(await world.db.organization.count({ where: { id: orgId } })).toBe(0);
});

test("runs that take too long to delete together are deleted in smaller batches", async () => {
  const { tenant } = await createBusyTenant("gil@large.test");
  for (let n = 0; n < 4; n += 1) await insertRun(world, tenant);
  // As a statement that takes too long: more than two rows at once.
  await world.pool.query(`
    CREATE FUNCTION limit_deletes() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN IF (SELECT count(*) FROM gone) > 2 THEN RAISE EXCEPTION 'too slow' USING ERRCODE = '57014'; END IF; RETURN NULL; END $$;
    CREATE TRIGGER limit_deletes AFTER DELETE ON runs REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION limit_deletes()`);
  const actor = await operatorOf(world, tenant.slug);
  await removeOrganization(world, actor, { force: true, patienceMs: 300 });
  expect(await world.db.organization.count({ where: { id: tenant.orgId } })).toBe(0);
});
