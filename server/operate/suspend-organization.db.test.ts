import { expect, it } from "vitest";
import { startRun } from "@/server/runs/start";
import { executeRun, startEngine } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import { statementName } from "@/testing/process";
import { createTenant, createWorld, openWorld, scriptedModels, type Tenant } from "@/testing/world";
import { resumeOrganization, suspendOrganization } from "./suspend-organization";

const RUNS = 8;
const world = await openWorld();

const operator = ({ orgId }: Tenant) => ({ kind: "operator", orgId, name: "test" }) as const;

async function start(tenant: Tenant): Promise<string> {
  const request = { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" } as const;
  return (await startRun(world, operator(tenant), request)).runId;
}

const statuses = async ({ orgId }: Tenant) =>
  (await world.db.run.findMany({ where: { organizationId: orgId } })).map(({ status }) => status);

it("cancels runs that wait, and those that ended before are not counted", async () => {
  const tenant = await createTenant(world);
  const ended = await start(tenant);
  await executeRun(world, ended);
  for (let n = 0; n < RUNS; n += 1) await start(tenant);
  expect(await suspendOrganization(world, operator(tenant), "unpaid")).toBe(RUNS);
  expect(await suspendOrganization(world, operator(tenant), "unpaid")).toBe(0);
  expect((await statuses(tenant)).sort()).toEqual([...Array(RUNS).fill("Cancelled"), "Completed"]);
  await expectSoundLedger(world, tenant);
});

it("cancels any number of runs, a batch in each transaction", async () => {
  const tenant = await createTenant(world, { plan: { concurrency: 1 } });
  await start(tenant);
  const [template] = await world.db.run.findMany({ where: { organizationId: tenant.orgId } });
  const MANY = 2_000;
  await world.pool.query(
    `INSERT INTO runs SELECT (jsonb_populate_record(r, jsonb_build_object('id', i.id, 'root_run_id', i.id, 'held', 0))).*
     FROM runs r, (SELECT gen_random_uuid() AS id FROM generate_series(1, $2)) i WHERE r.id = $1`,
    [template?.id, MANY],
  );
  const marks: number[] = [];
  const query = world.pool.query.bind(world.pool);
  const pool = Object.assign(Object.create(world.pool), {
    async query(...args: unknown[]) {
      const result = await Reflect.apply(query, world.pool, args);
      if (statementName(args) === "request-cancels-of-organization") marks.push(result.rows.length);
      return result;
    },
  });
  const ended = new Error("all are marked");
  const engine = Object.assign(Object.create(world.engine), { worker: () => Promise.reject(ended) });
  await expect(suspendOrganization({ ...world, pool, engine }, operator(tenant), "unpaid")).rejects.toBe(
    ended,
  );
  // The first 2,000 were marked together with the suspension.
  expect(marks).toEqual([1]);
  const unmarked = { organizationId: tenant.orgId, cancelRequestedAt: null };
  expect(await world.db.run.count({ where: unmarked })).toBe(0);
  await world.db.run.deleteMany({ where: { organizationId: tenant.orgId, held: 0 } });
});

it("none of its waiting runs starts, though the process dies right after the suspension", async () => {
  let calls = 0;
  const models = scriptedModels(() => {
    calls += 1;
    return {};
  });
  const tenant = await createTenant(world);
  for (let n = 0; n < RUNS; n += 1) await start(tenant);
  const dying = await createWorld({ beside: world, models });
  const died = new Error("The process ends.");
  const engine = Object.assign(Object.create(dying.engine), { worker: () => Promise.reject(died) });
  await expect(suspendOrganization({ ...dying, engine }, operator(tenant), "unpaid")).rejects.toBe(died);
  // What the process did not end is ended by the engine of another one, even if the organization is resumed meanwhile.
  await resumeOrganization(world, operator(tenant));
  startEngine(dying);
  await expect.poll(() => statuses(tenant)).toEqual(Array(RUNS).fill("Cancelled"));
  expect(calls).toBe(0);
  await dying.close();
  await expectSoundLedger(world, tenant);
});
