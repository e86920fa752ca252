import { expect, test } from "vitest";
import { z } from "zod";
import type { OperatorActor } from "@/server/base/actor";
import { defineQuery } from "@/server/base/db/statement";
import { authenticateKey } from "@/server/catalog/auth/authenticate-key";
import { startRun } from "@/server/runs/start";
import { createMember } from "@/testing/runs";
import { createTenant, openWorld, type Tenant } from "@/testing/world";
import { applyDefinitionFile } from "./apply";
import { applyOwnFile } from "./apply-own";

// An organization's row is locked by each flush of its runs, and one flush writes runs of many organizations.

const world = await openWorld();

const READ_WAITING = defineQuery(
  "read-waiting-applies",
  z.object({ waiting: z.int() }),
  `SELECT count(*)::int AS waiting FROM pg_stat_activity
   WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'`,
);

const countWaiting = async (table: string) => (await READ_WAITING(world.pool, [table]))[0]?.waiting;

/** Pauses `apply` at the first statement on `table` that waits for a locked row, and starts runs meanwhile. */
async function startRunsBeside<Result>(
  { table, id, tenants }: { table: "members" | "callback_endpoints"; id: string; tenants: Tenant[] },
  apply: () => Promise<Result>,
): Promise<Result> {
  const blocker = await world.pool.connect();
  try {
    await blocker.query("BEGIN");
    await blocker.query(`SELECT FROM ${table} WHERE id = $1 FOR UPDATE`, [id]);
    const applied = apply();
    await expect.poll(() => countWaiting(table)).toBe(1);
    const started = Promise.all(
      tenants.map(({ orgId, toolId }) => {
        const actor: OperatorActor = { kind: "operator", orgId, name: "test" };
        return startRun(world, actor, { kind: "tool", targetId: toolId, input: { a: 1, b: 2 } });
      }),
    );
    const first = await Promise.race([started.then(() => "runs"), applied.then(() => "apply")]);
    expect(first).toBe("runs");
    await blocker.query("ROLLBACK");
    return await applied;
  } finally {
    blocker.release(true);
  }
}

const callback = (slug: string, name = slug) =>
  `{ slug: ${slug}, name: ${name}, url: "https://erp.test/${slug}", events: [run.failed] }`;

test("runs start while a file that changes their organization is applied", async () => {
  const [tenant, other] = [await createTenant(world), await createTenant(world)];
  const { email, userId } = await createMember(world, tenant);
  const { id } = await world.db.member.findFirstOrThrow({ where: { userId } });
  const file = `organizations:
  - slug: ${tenant.slug}
    name: Renamed
    modelProviders: [{ name: far, api: chat, baseUrl: "https://far.test/v1", models: [far/small] }]
    callbacks: [${callback("erp")}]
    members: [{ email: ${email}, role: viewer }]
`;
  const applying = () => applyDefinitionFile(world, file);
  const applied = await startRunsBeside({ table: "members", id, tenants: [tenant, other] }, applying);
  expect(applied).toMatchObject([{ saved: "updated" }]);
  const stored = await world.db.organization.findUniqueOrThrow({ where: { id: tenant.orgId } });
  expect(stored).toMatchObject({ name: "Renamed", hasCallbacks: true });
  expect(stored.modelProviders).toContain("far/small");
});

test("runs start while a key applies its file, and a dry run changes nothing", async () => {
  const [tenant, other] = [await createTenant(world), await createTenant(world)];
  const scopes = ["definitions:read", "definitions:write", "runs:read"];
  await world.db.apiKey.updateMany({ where: { organizationId: tenant.orgId }, data: { scopes } });
  const key = await authenticateKey(world, tenant.key);
  const file = (callbacks: string) => `organizations: [{ slug: ${tenant.slug}, callbacks: [${callbacks}] }]`;
  const inactive = callback("crm").replace("}", ", status: inactive }");
  await applyOwnFile(world, key, { source: file(inactive), dryRun: false });
  const { id } = await world.db.callbackEndpoint.findFirstOrThrow({
    where: { organizationId: tenant.orgId, slug: "crm" },
  });
  const hasCallbacks = async () =>
    (await world.db.organization.findUniqueOrThrow({ where: { id: tenant.orgId } })).hasCallbacks;
  const source = file(`${callback("erp")}, ${callback("crm", "CRM")}`);
  for (const dryRun of [true, false]) {
    const applying = () => applyOwnFile(world, key, { source, dryRun });
    await startRunsBeside({ table: "callback_endpoints", id, tenants: [tenant, other] }, applying);
    expect(await hasCallbacks()).toBe(!dryRun);
  }
});

test("an apply locks organizations in the order of a flush, whatever the file's order", async () => {
  const tenants = [await createTenant(world), await createTenant(world)];
  const [low = "", high = ""] = tenants.map(({ orgId }) => orgId).sort();
  const named = tenants.toSorted((one) => (one.orgId === high ? -1 : 1)).map(({ slug }) => slug);
  const file = `organizations: [${named.map((slug) => `{ slug: ${slug}, name: Other }`).join(", ")}]`;
  const flush = await world.pool.connect();
  const lock = (id: string) => flush.query("SELECT FROM organizations WHERE id = $1 FOR NO KEY UPDATE", [id]);
  try {
    await flush.query("BEGIN");
    await lock(low);
    const applied = applyDefinitionFile(world, file);
    await expect.poll(() => countWaiting("organizations")).toBe(1);
    await lock(high);
    await flush.query("COMMIT");
    expect(await applied).toMatchObject([{ saved: "updated" }, { saved: "updated" }]);
  } finally {
    flush.release(true);
  }
});
