import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { ModelReply, ModelRequest } from "@/server/work/models/port";
import { executeSegment } from "@/testing/execute";
import { untilSharesAreKnown } from "@/testing/process";
import { insertTool } from "@/testing/tools";
import {
  createTenant,
  createWorld,
  openWorld,
  scriptedModels,
  type Tenant,
  type World,
} from "@/testing/world";
import { startRun } from "../start";
import { type Admitted, admitWaitingRuns } from "./claim";

let process: World;
let play: (request: ModelRequest) => Promise<Partial<ModelReply>>;
let handedOver: Admitted[];

const world = await openWorld();
beforeEach(async () => {
  handedOver = [];
  process = await createWorld({
    beside: world,
    slots: 2,
    env: { INNGEST_DEV: "http://127.0.0.1:9" },
    models: scriptedModels((request) => play(request)),
  });
});
afterEach(() => process.close());

function execute(): void {
  process.engine.start({
    kind: "server",
    async handOver(runs) {
      handedOver.push(...runs);
    },
    async cancel() {},
  });
}

async function start(tenant: Tenant): Promise<string> {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const request = { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" } as const;
  return (await startRun(process, actor, request)).runId;
}

const handOversOf = (runId: string) =>
  handedOver.filter(({ id }) => id === runId).map(({ handOver }) => handOver);

it("lets a run yield between two segments when the server has enough runs and another organization waits", async () => {
  const [long, short] = [await createTenant(world), await createTenant(world)];
  play = async () => ({ toolCalls: [{ id: "c", name: "calculate", arguments: '{"expression":"1+1"}' }] });
  const [first = "", second = ""] = [await start(long), await start(long)];
  // It looks for waiting runs only on the test's request: the server has enough of them while the first one executes.
  vi.spyOn(process.notifications, "listen").mockReturnValue(() => {});
  vi.useFakeTimers({ toFake: ["setInterval"] });
  execute();
  vi.useRealTimers();
  process.engine.wake();
  await expect.poll(() => handedOver.length).toBe(2);
  const waiting = await start(short);
  process.engine.wake();
  await untilSharesAreKnown(process);
  expect(handOversOf(waiting)).toEqual([]);

  expect(await executeSegment(process, first, { calls: 2 })).toBe("yielded");
  process.engine.wake();
  await expect.poll(() => handOversOf(waiting)).toEqual([1]);
  // It must yield no other slot, and continues later with its own event.
  expect(await executeSegment(process, second, { calls: 2 })).toBe("paused");
  play = async () => ({ content: "Done." });
  expect(await executeSegment(process, waiting, { calls: 2 })).toBe("ended");
  process.engine.wake();
  await expect.poll(() => handOversOf(first)).toEqual([1, 2]);
  expect(await executeSegment(process, first, { calls: 2 })).toBe("ended");
  const run = await world.db.run.findUniqueOrThrow({ where: { id: first } });
  expect(run).toMatchObject({ status: "Completed", stepsExecuted: 1 });
  expect(run.yieldedAt).toHaveLength(1);
});

it("tells a call that nothing has finished in it while called runs read their finished steps", async () => {
  const tenant = await createTenant(world);
  const sum = (id: string) => ({ id, uses: "calculate", with: { expression: "1+1" } });
  await insertTool(world, tenant, { slug: "sums", definition: { steps: ["a", "b", "c"].map(sum) } });
  const call = { id: "call", uses: "run_tool", with: { tool: "sums" } };
  const targetId = await insertTool(world, tenant, { slug: "calls", definition: { steps: [call] } });
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const { runId } = await startRun(process, actor, { kind: "tool", targetId, input: {} });
  await admitWaitingRuns(world, { worker: null, slots: 1_000 });
  expect(await executeSegment(process, runId, { calls: 2 })).toBe("paused");

  const progress: boolean[] = [];
  const checkpoint = (hasProgressed: boolean) => void progress.push(hasProgressed);
  const result = await process.engine.executeSegment({ runId }, { run: (_step, work) => work(), checkpoint });
  expect(result.kind).toBe("ended");
  // The call itself, then "b" and "c".
  expect(progress).toEqual([false, false, true]);
});
