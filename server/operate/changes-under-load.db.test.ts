import { expect, it } from "vitest";
import { handleRest } from "@/server/api/rest";
import { DAY_MS } from "@/server/base/clock";
import { applyDefinitionFile } from "@/server/catalog/definition-file/apply";
import { streamRun } from "@/server/runs/live/run-stream";
import { exportRuns } from "@/server/runs/read/export";
import { testClock } from "@/testing/clock";
import { startEngine } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import { createMember } from "@/testing/runs";
import {
  createTenant,
  createWorld,
  openWorld,
  scriptedModels,
  type Tenant,
  type World,
} from "@/testing/world";
import { removeExpired } from "./retention";
import { resumeOrganization, suspendOrganization } from "./suspend-organization";

/**
 * Nothing may be lost, stuck, charged wrongly or fail while an operator changes plans, suspends and resumes, and
 * retention deletes.
 */

const STARTS = 15;

const models = scriptedModels(({ messages }) => {
  const asked = messages.some(({ role }) => role === "tool");
  return asked ? {} : { toolCalls: [{ id: "a", name: "adder", arguments: '{"a":1,"b":2}' }] };
});
const world = await openWorld({ models });
// Retention finds old runs by their ids, which have the machine's time.
world.clock.set(new Date());

it("changes of plans, suspensions and retention lose nothing", async () => {
  const beside = await createWorld({ beside: world, models });
  const worlds = [world, beside];
  for (const process of worlds) startEngine(process);
  const plan = { startsPerMinute: null, readsPerMinute: null };
  const kept = await createTenant(world, { plan });
  const short = await createTenant(world, { plan: { ...plan, retentionDays: 30 } });
  const runs = new Map<Tenant, string[]>([
    [kept, []],
    [short, []],
  ]);
  const statuses = new Set<number>();
  let open = true;

  const call = async (process: World, { key }: Tenant, path: string, body?: string) => {
    const headers = { "X-API-Key": key, "Content-Type": "application/json" };
    const init = body === undefined ? { headers } : { method: "POST", headers, body };
    const response = await handleRest(process, new Request(`http://stepwell.test${path}`, init));
    statuses.add(response.status);
    return { ok: response.ok, ...(await response.json()) };
  };
  const started = (tenant: Tenant) => runs.get(tenant) ?? [];
  const startAll = async (tenant: Tenant, process: World) => {
    for (let n = 0; n < STARTS; ) {
      const body = '{"userMessage":"Add"}';
      const { ok, id } = await call(process, tenant, `/v1/agents/run/${tenant.agentId}`, body);
      if (!ok) continue;
      started(tenant).push(id);
      n += 1;
    }
  };
  const meanwhile = async (work: (n: number) => Promise<unknown>) => {
    for (let n = 0; open; n += 1) {
      await work(n);
      await new Promise((next) => setImmediate(next));
    }
  };
  const read = async (tenant: Tenant, n: number) => {
    const id = started(tenant).at(-1);
    if (id === undefined) return;
    await call(worlds[n % 2] ?? world, tenant, `/v1/agents/run/${id}/${n % 3 === 0 ? "details" : "status"}`);
  };
  const change = async (n: number) => {
    const operator = { kind: "operator", orgId: kept.orgId, name: "test" } as const;
    for (const { slug } of [kept, short]) {
      const limits = `apiAccess: ${n % 5 !== 4}, concurrency: ${1 + ((n * 7) % 20)}, retentionDays: 7`;
      const definition = `organizations:\n  - slug: ${slug}\n    plan: { ${limits} }\n`;
      await applyDefinitionFile(worlds[n % 2] ?? world, definition, "test");
    }
    if (n % 3 !== 2) return;
    await suspendOrganization(beside, operator, "test");
    await resumeOrganization(world, operator);
  };
  const later = new Date(Date.now() + 6 * DAY_MS);
  const retain = async () => {
    // As if the runs of one organization were older than its plan allows.
    await world.pool.query(
      "UPDATE plans SET retention_days = CASE WHEN organization_id = $1 THEN 5 ELSE 7 END",
      [short.orgId],
    );
    const removed = await removeExpired({ pool: beside.pool, clock: testClock(later), log: beside.log });
    expect(removed?.errors).toEqual([]);
  };
  const member = await createMember(world, kept, "viewer");
  const download = async () => {
    let text = "";
    for await (const piece of exportRuns(beside, member, { filter: {}, format: "json" })) text += piece;
    JSON.parse(text);
  };
  const watch = async () => {
    const runId = started(kept).at(-1);
    if (runId === undefined) return;
    const over = new AbortController();
    const sink = {
      drained: async () => {},
      send: () => over.abort(),
      close: () => over.abort(),
      signal: over.signal,
    };
    await streamRun(world, member, { runId, after: -1, sink });
  };

  const disturbing = [
    ...[kept, short].map((tenant) => meanwhile((n) => read(tenant, n))),
    ...[change, retain, download, watch].map(meanwhile),
  ];
  await Promise.all([kept, short].flatMap((tenant) => worlds.map((process) => startAll(tenant, process))));
  open = false;
  await Promise.all(disturbing);

  await expect.poll(() => world.db.run.count({ where: { finishedAt: null } }), { timeout: 60_000 }).toBe(0);
  const where = { organizationId: kept.orgId, parentRunId: null };
  const found = await world.db.run.findMany({ where });
  expect(found.map(({ id }) => id).sort()).toEqual([...started(kept)].sort());
  for (const { status } of found) expect(["Completed", "Cancelled"]).toContain(status);
  await expectSoundLedger(world, kept);
  expect([...statuses].filter((status) => status >= 500)).toEqual([]);
  const { balance, inFlight } = await world.db.organization.findUniqueOrThrow({ where: { id: short.orgId } });
  const charged = await world.db.creditEntry.aggregate({
    where: { organizationId: short.orgId },
    _sum: { amount: true },
  });
  expect([inFlight, balance.toString()]).toEqual([0, charged._sum.amount?.toString()]);
  const errors = worlds.flatMap(({ log }) => log.entries).filter(({ level }) => level === "error");
  // On a machine that stalls, a worker may be replaced meanwhile.
  expect(errors.filter(({ message }) => !message.startsWith("Another process replaced"))).toEqual([]);
  await beside.close();
}, 180_000);
