import { expect, it } from "vitest";
import { createTenant, openWorld, type Tenant } from "@/testing/world";
import { grantMonthlyCredits } from "./monthly-grants";

const world = await openWorld();
const beside = await openWorld({ beside: world });

const grantsOf = async ({ orgId }: Tenant) => {
  const entries = await world.db.creditEntry.findMany({
    where: { organizationId: orgId, actor: "system" },
    orderBy: { sequence: "asc" },
  });
  return entries.map(({ kind, amount, note }) => `${kind} ${amount} ${note}`);
};

it("grants a plan's credits once a month, with several processes at once", async () => {
  world.clock.set("2026-11-21T00:00:00.000Z");
  const tenant = await createTenant(world, { credits: "0", plan: { monthlyCredits: "12.5" } });
  const without = await createTenant(world, { credits: "0" });
  const passes = Array.from({ length: 8 }, (_, index) => grantMonthlyCredits(index % 2 ? world : beside));
  expect((await Promise.all(passes)).reduce((sum, count) => sum + count)).toBe(1);
  expect(await grantsOf(tenant)).toEqual(["grant 12.5 Monthly credits for 2026-11"]);

  world.clock.set("2026-11-30T23:59:59.999Z");
  expect(await grantMonthlyCredits(world)).toBe(0);
  world.clock.set("2026-12-01T00:00:00.000Z");
  expect(await grantMonthlyCredits(world)).toBe(1);
  // A process whose clock is still in the old month does not grant it again.
  world.clock.set("2026-11-30T23:59:59.999Z");
  expect(await grantMonthlyCredits(world)).toBe(0);
  expect(await grantsOf(tenant)).toHaveLength(2);
  const { balance } = await world.db.organization.findUniqueOrThrow({ where: { id: tenant.orgId } });
  expect(balance.toString()).toBe("25");
  expect(await grantsOf(without)).toEqual([]);
});

it("grants nothing while an organization is suspended", async () => {
  world.clock.set("2027-01-10T00:00:00.000Z");
  const tenant = await createTenant(world, { credits: "0", plan: { monthlyCredits: "1" } });
  const suspend = (suspendedAt: Date | null) =>
    world.db.organization.update({ where: { id: tenant.orgId }, data: { suspendedAt } });
  await suspend(world.clock.now());
  await grantMonthlyCredits(world);
  expect(await grantsOf(tenant)).toEqual([]);
  await suspend(null);
  await grantMonthlyCredits(world);
  expect(await grantsOf(tenant)).toEqual(["grant 1 Monthly credits for 2027-01"]);
});

const createDue = () => createTenant(world, { credits: "0", plan: { monthlyCredits: "1" } });

async function rejectGrantsOf({ orgId }: Tenant, code: string): Promise<void> {
  await world.pool.query(`
    CREATE OR REPLACE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'rejected' USING ERRCODE = '${code}'; END $$;
    CREATE TRIGGER reject BEFORE INSERT ON credit_entries FOR EACH ROW WHEN (NEW.organization_id = '${orgId}') EXECUTE FUNCTION reject()`);
}

const STATEMENT_TIMEOUT = "57014";
const SHUTDOWN = "57P01";

it("grants the others' credits when one organization's grant fails", async () => {
  world.clock.set("2027-02-01T00:00:00.000Z");
  const [broken, other] = [await createDue(), await createDue()];
  await rejectGrantsOf(broken, STATEMENT_TIMEOUT);
  await expect(grantMonthlyCredits(world)).rejects.toThrow("rejected");
  expect([await grantsOf(broken), await grantsOf(other)]).toEqual([
    [],
    ["grant 1 Monthly credits for 2027-02"],
  ]);
  await world.pool.query("DROP TRIGGER reject ON credit_entries");
  expect(await grantMonthlyCredits(world)).toBe(1);
});

it("ends early when the database is unavailable or the process stops", async () => {
  await world.db.plan.updateMany({ data: { monthlyCredits: 0 } });
  world.clock.set("2027-03-01T00:00:00.000Z");
  const [broken, other] = [await createDue(), await createDue()];
  await rejectGrantsOf(broken, SHUTDOWN);
  await expect(grantMonthlyCredits(world)).rejects.toThrow("rejected");
  expect(await grantsOf(other)).toEqual([]);
  await world.pool.query("DROP TRIGGER reject ON credit_entries");
  let asked = 0;
  expect(await grantMonthlyCredits(world, () => ++asked === 1)).toBe(1);
  expect([(await grantsOf(broken)).length, (await grantsOf(other)).length]).toEqual([1, 0]);
});

it("leaves the organization's row free while it waits for the plan", async () => {
  world.clock.set("2027-04-01T00:00:00.000Z");
  const { orgId } = await createDue();
  const applying = await world.pool.connect();
  await applying.query("BEGIN");
  await applying.query("UPDATE plans SET concurrency = concurrency WHERE organization_id = $1", [orgId]);
  const granting = grantMonthlyCredits(world);
  const waiting = "SELECT 1 FROM pg_locks WHERE NOT granted";
  await expect.poll(async () => (await world.pool.query(waiting)).rowCount).toBe(1);
  await applying.query("SELECT FROM organizations WHERE id = $1 FOR UPDATE NOWAIT", [orgId]);
  await applying.query("COMMIT");
  applying.release();
  expect(await granting).toBeGreaterThan(0);
});
