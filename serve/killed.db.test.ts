import { afterAll, beforeAll, expect, it } from "vitest";
import type { JsonObject } from "@/server/base/json/json";
import { followThroughKills, type ReadEvent } from "@/testing/event-reader";
import { expectSoundLedger } from "@/testing/ledger";
import { type ModelServer, startModelServer } from "@/testing/servers/model-server";
import { type BuiltProcess, builtService, startOverRest, untilReady } from "@/testing/services/built-service";
import { insertTool } from "@/testing/tools";
import { createTenant, createWorld, setAgent, type Tenant, type World } from "@/testing/world";

/** Bounds only the time until runs fall asleep; whatever happens later may take longer. */
const WAIT_SECONDS = 20;

let world: World;
let model: ModelServer;
let tenant: Tenant;
const service = builtService(() => world);

beforeAll(async () => {
  await service.build();
  world = await createWorld();
  model = await startModelServer();
  tenant = await createTenant(world);
}, 240_000);
afterAll(async () => {
  await model.close();
  await world.close();
});

let current = "";

async function startProcess({ dieAt }: { dieAt?: string } = {}): Promise<BuiltProcess> {
  const started = await service.start({
    env: {
      OPENAI_API_KEY: "test",
      OPENAI_BASE_URL: model.url,
      STEPWELL_PAUSE_POINTS: dieAt === undefined ? "" : `${dieAt}=1`,
    },
  });
  current = started.origin;
  return started;
}

async function startRun(
  process: BuiltProcess,
  target: `tools/run/${string}` | `agents/run/${string}`,
  input: () => object,
): Promise<string> {
  await untilReady(process);
  return startOverRest(process, target, { key: tenant.key, body: JSON.stringify(input()) });
}

const read = (id: string) => world.db.run.findUniqueOrThrow({ where: { id }, include: { steps: true } });

async function untilDeadAt(dieAt: string, act?: (dying: BuiltProcess) => Promise<void>): Promise<void> {
  const dying = await startProcess({ dieAt });
  await act?.(dying);
  await dying.exited;
  expect([dieAt, dying.child.signalCode]).toEqual([dieAt, "SIGKILL"]);
}

it("runs that wait continue at their time, once and charged once, however often the process is killed", {
  tags: "long",
  timeout: 300_000,
}, async () => {
  const insert = (slug: string, wait: JsonObject) =>
    insertTool(world, tenant, {
      slug,
      definition: {
        steps: [
          { id: "before", uses: "calculate", with: { expression: "1 + 1" } },
          { id: "pause", uses: "wait", with: wait },
          { id: "after", uses: "calculate", with: { expression: "2 + 2" } },
        ],
      },
    });
  const seconds = await insert("waits-seconds", { seconds: WAIT_SECONDS });
  const until = await insert("waits-until", { until: "{{ input.until }}" });
  const inTime = () => ({ until: new Date(Date.now() + WAIT_SECONDS * 1000).toISOString() });

  const first = await startProcess();
  const asleep = [
    await startRun(first, `tools/run/${seconds}`, () => ({})),
    await startRun(first, `tools/run/${until}`, inTime),
  ];
  const due = new Map<string, Date | null>();
  for (const id of asleep) {
    await expect.poll(async () => (await read(id)).wakeAt, { timeout: 60_000 }).not.toBeNull();
    due.set(id, (await read(id)).wakeAt);
  }
  await service.kill(first.child);
  for (const id of asleep)
    expect(await read(id)).toMatchObject({ status: "Running", admittedAt: null, claimedBy: null });

  // One more run, whose process dies just before it falls asleep.
  let last = "";
  await untilDeadAt("yield:before", async (dying) => {
    last = await startRun(dying, `tools/run/${seconds}`, () => ({}));
  });
  await untilDeadAt("claim:after");
  await untilDeadAt("end:before");
  await startProcess();

  for (const id of [...asleep, last]) {
    await expect.poll(async () => (await read(id)).status, { timeout: 90_000 }).toBe("Completed");
    const run = await read(id);
    const pause = run.steps.find(({ key }) => key === "pause");
    const time = new Date(JSON.parse(pause?.output ?? "{}").until);
    if (id !== last) expect(time).toEqual(due.get(id));
    expect(run.finishedAt?.getTime()).toBeGreaterThanOrEqual(time.getTime());
    expect(run).toMatchObject({ stepsExecuted: 3, actionsUsed: 3 });
    expect(run.steps.map(({ key, status }) => `${key} ${status}`).sort()).toEqual([
      "after Completed",
      "before Completed",
      "pause Completed",
    ]);
    expect(run.creditsUsed.toString()).toBe("0.03");
    const charges = await world.db.creditEntry.findMany({ where: { runId: id, kind: "charge" } });
    expect(charges.map(({ amount }) => amount.toString())).toEqual(["-0.03"]);
  }
  await expectSoundLedger(world, tenant);
});

it("an agent corrects its answer and counts its calls exactly, however often the process is killed", async () => {
  await setAgent(world, tenant, {
    outputSchema: { type: "object", properties: { sum: { type: "integer" } }, required: ["sum"] },
    policies: { calculate: { maxCalls: 1 } },
  });
  const calculate = (expression: string) => ({ calls: [{ name: "calculate", arguments: { expression } }] });
  model.script(
    "Add one and two",
    calculate("1+2"),
    calculate("2+2"),
    // The first process that comes this far is killed meanwhile.
    [{ fault: "hang" }, { content: "It is three." }],
    { content: '```json\n{"sum": 3}\n```' },
  );
  const finished = async (runId: string) => {
    const done = { where: { runId, finishedAt: { not: null } }, orderBy: { id: "asc" } } as const;
    return [...(await world.db.modelCall.findMany(done)), ...(await world.db.step.findMany(done))];
  };

  let runId = "";
  let events: Promise<ReadEvent[]> = Promise.resolve([]);
  await untilDeadAt("journal:answered", async (dying) => {
    runId = await startRun(dying, `agents/run/${tenant.agentId}`, () => ({ userMessage: "Add one and two" }));
    events = followThroughKills(() => `${current}/v1/agents/run/${runId}/events`, tenant.key);
  });
  const waiting = await startProcess();
  // Its first two model calls and their steps are committed before it makes the third one.
  await expect.poll(async () => (await finished(runId)).length, { timeout: 60_000 }).toBe(4);
  await service.kill(waiting.child);
  const before = await finished(runId);
  // The next process executes the run itself, not its isolated process.
  await world.db.run.update({ where: { id: runId }, data: { crashes: 0 } });
  await untilDeadAt("journal:answered");
  expect(await finished(runId)).toEqual(expect.arrayContaining(before));
  await startProcess();

  await expect.poll(async () => (await read(runId)).status, { timeout: 90_000 }).toBe("Completed");
  const run = await read(runId);
  const rows = await finished(runId);
  expect(rows).toEqual(expect.arrayContaining(before));
  expect(rows.map(({ key, status }) => `${key} ${status}`).sort()).toEqual([
    "call-1-1 Completed",
    "call-2-1 Failed",
    "think-1 Completed",
    "think-2 Completed",
    "think-3 Completed",
    "think-4 Completed",
  ]);
  expect(run).toMatchObject({ output: '{"sum":3}', stepsExecuted: 2, actionsUsed: 1, inputTokens: 40 });
  // Four model calls of 10 tokens in and 5 out, and one action: the rejected call is free.
  expect(run.creditsUsed.toString()).toBe("0.022");
  const charges = await world.db.creditEntry.findMany({ where: { runId, kind: "charge" } });
  expect(charges.map(({ amount }) => amount.toString())).toEqual(["-0.022"]);
  // The reader that came back after each kill has every event once.
  const numbered = (await events).filter(({ id }) => id !== null);
  expect(numbered.map(({ id }) => id)).toEqual(numbered.map((_, n) => n + 1));
  expect(numbered.map(({ name }) => name)).toEqual([
    ...["run.running", "step.started", "step.completed", "step.started", "step.completed", "run.completed"],
  ]);
  // A request whose reply was not committed is made again; none other.
  expect(model.requests.length).toBeLessThanOrEqual(4 + 4);
  await expectSoundLedger(world, tenant);
}, 300_000);
