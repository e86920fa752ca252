import { afterAll, beforeAll, expect, it } from "vitest";
import { sleep } from "@/server/base/sleep";
import { followThroughKills, isEnd, type ReadEvent } from "@/testing/event-reader";
import { type ModelServer, startModelServer } from "@/testing/servers/model-server";
import { type BuiltProcess, builtService, startOverRest, untilReady } from "@/testing/services/built-service";
import { insertTool } from "@/testing/tools";
import { createTenant, createWorld, setAgent, type Tenant, type World } from "@/testing/world";

/** Readers of events whose process is killed at random moments. */

const SEED = Math.floor(Math.random() * 2 ** 31);

let world: World;
let model: ModelServer;
let tenant: Tenant;
let toolId: string;
const service = builtService(() => world);

beforeAll(async () => {
  await service.build();
  world = await createWorld();
  model = await startModelServer();
  model.script("Say it", { content: "It is said.", delayMs: 30 });
  const calls = Array.from({ length: 5 }, () => ({ name: "calculate", arguments: { expression: "1+1" } }));
  model.script("Count", ...Array.from({ length: 10 }, () => ({ calls, delayMs: 100 })), { content: "Done." });
  tenant = await createTenant(world, { credits: "100000" });
  await setAgent(world, tenant, { maxSteps: 12 });
  const calculate = (id: string) => ({ id, uses: "calculate", with: { expression: "1 + 1" } });
  await insertTool(world, tenant, {
    slug: "leaf",
    definition: {
      steps: [
        calculate("before"),
        { id: "ask", uses: "run_agent", with: { agent: "helper", message: "Say it" } },
        calculate("after"),
      ],
    },
  });
  const callLeaf = { uses: "run_tool", with: { tool: "leaf", input: {} } };
  toolId = await insertTool(world, tenant, {
    slug: "root",
    definition: {
      steps: [{ id: "each", forEach: "[1..40]", concurrency: 2, ...callLeaf }, calculate("last")],
    },
  });
}, 240_000);
afterAll(async () => {
  await model.close();
  await world.close();
});

/** Numbers from 0 to 1, the same for the same seed (Park and Miller). */
function randomNumbers(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

const startProcess = async (): Promise<BuiltProcess> => {
  const started = await service.start({ env: { OPENAI_API_KEY: "test", OPENAI_BASE_URL: model.url } });
  await untilReady(started);
  return started;
};

/** The events of a run that a reader got, beside the same read at once after the run's end. */
type Reading = { what: string; path: string; events: Promise<ReadEvent[]>; hasSnapshot: boolean };

const numbered = (events: ReadEvent[]) => events.filter(({ place }) => place !== null);
const textOf = ({ name, data }: ReadEvent) => JSON.stringify([name, data]);

async function expectAllOnce({ what, path, events, hasSnapshot }: Reading, origin: string): Promise<number> {
  const got = numbered(await events);
  // A snapshot stands for the events up to its number.
  const [snapshot] = hasSnapshot ? got : [];
  expect([what, snapshot?.name]).toEqual([what, hasSnapshot ? "snapshot" : undefined]);
  const seen = hasSnapshot ? got.slice(1) : got;
  const own = seen.filter(({ data }) => data.path === undefined).map(({ id }) => id);
  expect([what, own]).toEqual([what, own.map((_, index) => (snapshot?.id ?? 0) + 1 + index)]);
  expect([what, seen.filter(isEnd).length, seen.findIndex(isEnd)]).toEqual([what, 1, seen.length - 1]);
  expect(new Set(seen.map(({ place }) => place)).size).toBe(seen.length);
  if (!hasSnapshot) {
    const all = numbered(await followThroughKills(() => origin + path, tenant.key));
    expect(seen.map(textOf).sort()).toEqual(all.map(textOf).sort());
  }
  return seen.length;
}

it("readers that resume after each kill get each event once, in order, and one end", {
  tags: "long",
  timeout: 1_200_000,
}, async () => {
  const random = randomNumbers(SEED);
  const kills = 50;
  const processes = [await startProcess(), await startProcess()];
  let serving = 0;
  const origin = () => processes[serving]?.origin ?? "";
  // Runs that were interrupted often would go to isolated processes.
  const forgiving = setInterval(() => {
    const interrupted = { where: { finishedAt: null, crashes: { gt: 0 } }, data: { crashes: 0 } };
    void world.db.run.updateMany(interrupted).catch(() => {});
  }, 100);

  const readings: Reading[] = [];
  let interrupted = 0;
  let open = 0;
  let runs = 0;
  const read = (path: string, { snapshot = false } = {}) => {
    open += 1;
    const events = followThroughKills(() => origin() + path, tenant.key, { snapshot }).finally(() => {
      open -= 1;
    });
    readings.push({
      what: `${path} ${snapshot ? "with a snapshot" : ""}`,
      path,
      events,
      hasSnapshot: snapshot,
    });
  };
  const startAndRead = async () => {
    const isTool = runs % 3 !== 2;
    runs += 1;
    const [target, body] = isTool
      ? ([`tools/run/${toolId}`, {}] as const)
      : ([`agents/run/${tenant.agentId}`, { userMessage: "Count" }] as const);
    const id = await startOverRest({ origin: origin() }, target, {
      key: tenant.key,
      body: JSON.stringify(body),
    });
    const path = `/v1/${isTool ? "tools" : "agents"}/run/${id}/events`;
    read(path);
    read(`${path}?children=true`);
    await sleep(random() * 300);
    read(path, { snapshot: true });
  };

  for (let killed = 0; killed < kills; killed += 1) {
    if (open === 0) await startAndRead();
    await sleep(random() * 1_500);
    const slot = serving;
    const dying = processes[slot];
    // Some readers wait until the process is back, the others go to the other process at once.
    if (random() < 0.6) serving = 1 - slot;
    interrupted += open;
    if (dying !== undefined) await service.kill(dying.child);
    processes[slot] = await startProcess();
  }

  let events = 0;
  for (const reading of readings) events += await expectAllOnce(reading, origin());
  clearInterval(forgiving);
  expect(interrupted).toBeGreaterThan(kills);
  console.log({ seed: SEED, kills, runs, readers: readings.length, interrupted, events });
});
