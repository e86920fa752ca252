import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { JsonObject } from "@/server/base/json/json";
import { FairQueue } from "@/server/base/scheduling/fair-queue";
import { startRun } from "@/server/runs/start";
import { startEngine } from "@/testing/execute";
import { insertTool } from "@/testing/tools";
import { createTenant, createWorld, type Tenant, type World } from "@/testing/world";

const RUNS = 100;
const OWN_RUNS = 10;
const EATER = {
  id: "eat",
  forEach: "input.items",
  uses: "run_javascript",
  with: { code: "const eaten = []; for (;;) eaten.push(new Uint8Array(1 << 20).fill(1));" },
  onError: "continue",
};

type Event = { what: "asks" | "begins" | "ends"; orgId: string };
const queues = new Map<FairQueue, Event[]>();

let world: World;
let eater: Tenant;
let other: Tenant;
beforeAll(async () => {
  const { take } = FairQueue.prototype;
  vi.spyOn(FairQueue.prototype, "take").mockImplementation(function (this: FairQueue, orgId, work) {
    const events = queues.get(this) ?? [];
    queues.set(this, events);
    events.push({ what: "asks", orgId });
    return take.call(this, orgId, () => {
      events.push({ what: "begins", orgId });
      return work().finally(() => events.push({ what: "ends", orgId }));
    });
  });
  world = await createWorld({ slots: RUNS + OWN_RUNS });
  eater = await createTenant(world, { credits: "100000", plan: { concurrency: RUNS } });
  other = await createTenant(world);
  startEngine(world);
});
afterAll(async () => {
  await world.close();
  vi.restoreAllMocks();
});

const count = (events: readonly Event[], what: Event["what"], { orgId }: Tenant) =>
  events.filter((event) => event.what === what && event.orgId === orgId).length;
const waiting = (events: readonly Event[], of: Tenant) =>
  count(events, "asks", of) - count(events, "begins", of);
const TIMEOUTS = { timeout: 55_000, interval: 20 };

async function start(tenant: Tenant, targetId: string, input: JsonObject = {}): Promise<string> {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  return (await startRun(world, actor, { kind: "tool", targetId, input })).runId;
}

it("a script of another organization begins before all that wait, and always finds a thread", async () => {
  const eat = await insertTool(world, eater, { slug: "eat", definition: { steps: [EATER] } });
  const script = { id: "own", uses: "run_javascript", with: { code: "return 1 + 1" } };
  const own = await insertTool(world, other, { slug: "own", definition: { steps: [script] } });
  const items = Array.from({ length: 1_000 }, (_, n) => n);
  await Promise.all(Array.from({ length: RUNS }, () => start(eater, eat, { items })));

  const untilCrowded = () =>
    vi.waitFor(() => {
      const crowded = [...queues.values()].find((events) => waiting(events, eater) >= RUNS / 2);
      if (crowded === undefined) throw new Error("The hundred runs do not wait for threads.");
      return crowded;
    }, TIMEOUTS);
  const events = await untilCrowded();
  for (let n = 0; n < OWN_RUNS; n += 1) {
    await untilCrowded();
    const id = await start(other, own);
    await vi.waitFor(async () => {
      const run = await world.db.run.findUniqueOrThrow({ where: { id } });
      expect(run).toMatchObject({ status: "Completed", output: "2" });
    }, TIMEOUTS);
  }

  const overtaken: number[] = [];
  let atOnce = 0;
  let most = 0;
  let asked: number | null = null;
  for (const [index, { what, orgId }] of events.entries()) {
    if (orgId === eater.orgId) {
      if (what === "begins") atOnce += 1;
      if (what === "ends") atOnce -= 1;
      most = Math.max(most, atOnce);
    } else if (what === "asks") asked = index;
    else if (what === "begins" && asked !== null)
      overtaken.push(count(events.slice(asked, index), "begins", eater));
  }
  expect(overtaken).toEqual(Array(OWN_RUNS).fill(0));
  // There are four threads.
  expect(most).toBeLessThan(4);
  const failed = { organizationId: eater.orgId, output: { contains: "script_limit" } };
  await vi.waitFor(
    async () => expect(await world.db.step.count({ where: failed })).toBeGreaterThan(0),
    TIMEOUTS,
  );
});
