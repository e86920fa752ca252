// @module-tag once
import { beforeAll, expect, it } from "vitest";
import { operatorOf } from "@/server/catalog/organization/organizations";
import { insertRun } from "@/testing/runs";
import { countTableReads } from "@/testing/table-reads";
import { createTenant, openWorld } from "@/testing/world";
import { CHECKS } from "./doctor/checks";
import { listNewestRuns } from "./newest-runs";
import { endOverdueRuns } from "./overdue-runs";
import { removeOrganization } from "./remove-organization";
import { removeExpired } from "./retention";

/** Jobs and commands read few runs, though there are many. */

const RUNS = 60_000;
const OPEN = 5_000;

const world = await openWorld();
const { clock, pool } = world;
// Keeps its runs for a year.
const tenant = await createTenant(world, { plan: { retentionDays: 365 } });

// The newest ones wait.
beforeAll(async () => {
  for (let n = 0; n < 10; n += 1) await createTenant(world, { plan: { retentionDays: 30 } });
  const id = await insertRun(world, tenant);
  const client = await pool.connect();
  await client.query("SET session_replication_role = replica");
  await client.query(
    `INSERT INTO runs SELECT filled.* FROM runs r
     CROSS JOIN LATERAL (SELECT n, $4::timestamptz - interval '90 days' * (1 - n::float8 / $3) AS at, n > $2 AS is_open
                         FROM generate_series(1, $3::int) AS n) t
     CROSS JOIN LATERAL (SELECT overlay(run_id_floor(at)::text PLACING lpad(to_hex(n), 12, '0') FROM 25)::uuid AS id) i
     CROSS JOIN LATERAL jsonb_populate_record(r, jsonb_build_object('id', i.id, 'root_run_id', i.id)
       || CASE WHEN is_open THEN '{"status":"Pending","started_at":null,"finished_at":null}'
               ELSE jsonb_build_object('created_at', at, 'started_at', at, 'finished_at', at) END) filled
     WHERE r.id = $1`,
    [id, RUNS - OPEN, RUNS, clock.now()],
  );
  await client.query("VACUUM ANALYZE runs");
  client.release(true);
});

it("runs that waited too long are found among open ones", async () => {
  const { rows } = await countTableReads(world, "runs", (database) =>
    endOverdueRuns({ ...world, ...database }),
  );
  expect(rows).toBeLessThan(2 * OPEN);
});

it("an organization's expired runs are found among its own", async () => {
  const { rows } = await countTableReads(world, "runs", (database) =>
    removeExpired({ ...world, ...database }),
  );
  expect(rows).toBeLessThan(OPEN);
});

it("doctor reads only open runs", async () => {
  const { rows } = await countTableReads(world, "runs", async (database) =>
    CHECKS.runs?.({ ...world, ...database }, { names: true }),
  );
  expect(rows).toBeLessThan(3 * OPEN);
});

it("an organization's open runs are counted without its ended ones", async () => {
  const actor = await operatorOf(world, tenant.slug);
  const { rows } = await countTableReads(world, "runs", (database) =>
    expect(removeOrganization({ ...world, ...database }, actor)).rejects.toThrow(`${OPEN} runs are open`),
  );
  expect(rows).toBeLessThan(2 * OPEN);
});

it("the newest runs with an open status are found among open ones", async () => {
  const { rows } = await countTableReads(world, "runs", (database) =>
    listNewestRuns({ ...world, ...database }, { orgId: null, status: "Running", limit: 20 }),
  );
  expect(rows).toBeLessThan(2 * OPEN);
});
