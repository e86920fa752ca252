import { expect, it } from "vitest";
import { startRun } from "@/server/runs/start";
import { findModelFacts } from "@/server/work/models/catalog/find-model-facts";
import { Paces } from "@/server/work/models/pace/paces";
import { createModels } from "@/server/work/models/registry";
import { executeSegment } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import { afterSeconds, fixedWindow, limitedProvider, MINUTE } from "@/testing/limited-provider";
import { virtualTime } from "@/testing/virtual-time";
import { createTenant, openWorld, type Tenant } from "@/testing/world";
import { admitWaitingRuns } from "../../claim";

/** A provider allows 60 calls a minute. Its time passes when all open runs wait for it. */

const RUNS = 200;
const time = virtualTime();
const options = { counting: fixedWindow, says: afterSeconds, paces: new Paces(time) };
const [own, others] = [limitedProvider(options, time), limitedProvider(options, time)];

let open = 0;
let calling = 0;
let stranger: Tenant | undefined;
const world = await openWorld({
  models: {
    ...createModels(time),
    providerOf: () => "limited",
    factsOf: own.provider.factsOf,
    async call(request) {
      calling += 1;
      const { provider } = request.organizationId === stranger?.orgId ? others : own;
      return provider.call(request).finally(() => {
        calling -= 1;
      });
    },
  },
});

async function start({ orgId, agentId }: Tenant): Promise<string> {
  const actor = { kind: "operator", orgId, name: "test" } as const;
  return (await startRun(world, actor, { kind: "agent", targetId: agentId, userMessage: "Add." })).runId;
}

async function execute(runId: string): Promise<number> {
  open += 1;
  await executeSegment(world, runId).finally(() => {
    open -= 1;
  });
  return time.clock.monotonicMs();
}

const statuses = async (tenant: Tenant) =>
  (await world.db.run.groupBy({ by: ["status"], where: { organizationId: tenant.orgId }, _count: true })).map(
    ({ status, _count }) => [status, _count],
  );

it("200 runs end well with few rejected calls a minute, and another organization's run does not wait", async () => {
  await findModelFacts({ baseUrl: "http://limited.test", model: "any" });
  const tenant = await createTenant(world, { credits: "1000000", plan: { concurrency: RUNS } });
  stranger = await createTenant(world);
  const ids: string[] = [];
  while (ids.length < RUNS) ids.push(await start(tenant));
  const late = await start(stranger);
  await admitWaitingRuns(world, { worker: null, slots: 1_000 });

  const visit = async () => {
    await time.sleep(MINUTE / 2, new AbortController().signal);
    return execute(late);
  };
  const work = Promise.all([visit(), ...ids.map(execute)]);
  const [lateEnd, ...ends] = await time.pass(work, () => calling === open);
  expect(await statuses(tenant)).toEqual([["Completed", RUNS]]);
  expect(await statuses(stranger)).toEqual([["Completed", 1]]);
  expect(lateEnd - MINUTE / 2).toBeLessThan(1_000);
  expect(others.rejected).toEqual([]);

  const rejected = [0, 1, 2, 3, 4].map(
    (minute) => own.rejected.filter((at) => Math.floor(at / MINUTE) === minute).length,
  );
  // The limit is found in the first minute.
  expect(rejected[0]).toBeLessThanOrEqual(20);
  for (const each of rejected.slice(1)) expect(each).toBeLessThanOrEqual(6);
  // At 60 a minute, 200 calls need more than three.
  expect(Math.max(...ends)).toBeGreaterThan(3 * MINUTE);
  expect(Math.max(...ends)).toBeLessThan(5 * MINUTE);
  await expectSoundLedger(world, tenant);
}, 300_000);
