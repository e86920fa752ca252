import { expect, it } from "vitest";
import { Decimal } from "@/server/base/amount";
import { createMember, insertRun } from "@/testing/runs";
import { countTableReads } from "@/testing/table-reads";
import { createTenant, openWorld } from "@/testing/world";
import { grantCredits, postEntries } from "./ledger";
import { listLedger, readBalance } from "./read-ledger";

const world = await openWorld();
const tenant = await createTenant(world, { credits: "10" });

const post = (kind: "hold" | "refund", amount: string, runId: string | null, actor: string) =>
  postEntries(world.pool, tenant.orgId, {
    entries: [{ kind, amount: new Decimal(amount), runId, note: "" }],
    actor,
    clock: world.clock,
  });

it("reads the balance, holds and every entry with its run and author", async () => {
  const reader = await createMember(world, tenant, "viewer");
  const runId = await insertRun(world, tenant, { status: "Running" });
  await post("hold", "-0.5", runId, `api_key:${tenant.apiKeyId}`);
  await world.db.run.update({ where: { id: runId }, data: { held: "0.5" } });
  // Its root's hold covers it.
  await insertRun(world, tenant, { status: "Running", source: "run", parentRunId: runId });
  const gone = "01a1fce1-2efc-779d-96d7-58140f1414c7";
  await post("refund", "0.25", gone, `user:${reader.userId}`);

  expect(await readBalance(world, reader)).toEqual({
    available: "9.7500",
    held: "0.5000",
    openRuns: 1,
    monthly: "0.0000",
  });
  const { items } = await listLedger(world, reader, { holds: true, limit: 10 });
  expect(items).toMatchObject([
    { sequence: 3, kind: "refund", amount: "0.2500", actor: reader.name, runId: gone },
    {
      sequence: 2,
      kind: "hold",
      amount: "-0.5000",
      before: "10.0000",
      actor: "key ci",
      runId,
    },
    { sequence: 1, kind: "grant", after: "10.0000", actor: "operator", runId: null },
  ]);
  const net = await listLedger(world, reader, { holds: false, limit: 10 });
  expect(net.items.map(({ sequence }) => sequence)).toEqual([3, 1]);
});

it("pages through lines, also of one kind, without gaps", async () => {
  const reader = await createMember(world, tenant, "viewer");
  for (let index = 0; index < 5; index += 1) {
    await grantCredits(world.pool, {
      orgId: tenant.orgId,
      amount: new Decimal(1),
      note: "more",
      actor: "operator",
      clock: world.clock,
    });
  }
  const read = async (kind?: "grant") => {
    const seen: number[] = [];
    let cursor: number | null = null;
    do {
      const page: Awaited<ReturnType<typeof listLedger>> = await listLedger(world, reader, {
        kind,
        holds: true,
        cursor,
        limit: 2,
      });
      seen.push(...page.items.map(({ sequence }) => sequence));
      cursor = page.nextCursor;
    } while (cursor !== null);
    return seen;
  };
  expect(await read()).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
  expect(await read("grant")).toEqual([8, 7, 6, 5, 4, 1]);
});

it("finds the lines that change the balance without reading all holds and releases", async () => {
  const free = await createTenant(world, { credits: "10" });
  await world.pool.query(
    `INSERT INTO credit_entries (organization_id, sequence, kind, amount, balance_before, balance_after, run_id, actor, created_at)
     SELECT $1, n, kind, amount, 10 - amount, 10, gen_random_uuid(), 'run', now() FROM generate_series(2, 2001) n
     CROSS JOIN LATERAL (SELECT (CASE WHEN n IN (2, 100, 900) THEN 'charge' WHEN n % 2 = 0 THEN 'hold' ELSE 'release' END)::credit_entry_kind AS kind) k
     CROSS JOIN LATERAL (SELECT CASE kind WHEN 'release' THEN 1 ELSE -1 END AS amount) a`,
    [free.orgId],
  );
  await world.pool.query("ANALYZE credit_entries");
  const { rows } = await countTableReads(world, "credit_entries", async (database) => {
    // The sixth and later ones share a plan.
    for (let n = 0; n < 7; n += 1) {
      const charges = await listLedger(database, free, { kind: "charge", holds: true, limit: 10 });
      expect(charges.items.map(({ sequence }) => sequence)).toEqual([900, 100, 2]);
      const net = await listLedger(database, free, { holds: false, limit: 3 });
      expect(net).toMatchObject({
        nextCursor: 2,
        items: [{ sequence: 900 }, { sequence: 100 }, { sequence: 2 }],
      });
    }
  });
  expect(rows).toBeLessThan(7 * 30);
});
