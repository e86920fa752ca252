import { performance } from "node:perf_hooks";
import { Inngest } from "inngest";
import { serve } from "inngest/edge";
import { Client, Pool } from "pg";
import { createEmbeddedEngine } from "@/inngest/embedded/engine";
import { buildCall } from "@/inngest/embedded/protocol";
import { startOwnPostgres } from "@/inngest/testing/own-postgres";
import { systemClock } from "@/server/clock";
import { createLogger, STDERR } from "@/server/log";

/**
 * Measures the embedded engine on a throwaway Postgres: what the SDK alone costs, the latency of single runs, the
 * throughput of a burst, and what it costs to be idle. Figures go to standard output as JSON.
 *
 *   npx esbuild scripts/bench/engine.ts --bundle --platform=node --format=esm --packages=external \
 *     --outfile=node_modules/.cache/stepwell/bench-engine.mjs && node node_modules/.cache/stepwell/bench-engine.mjs
 */
const STEPS = 8;
const SINGLE_RUNS = 100;
const BURST_RUNS = 500;
const IDLE_MS = 20_000;

type Marks = { started: number; steps: number[]; ended: number };

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const runs = new Map<number, Marks>();
let finished = 0;

function defineWork(client: Inngest) {
  return client.createFunction({ id: "work", triggers: { event: "go" } }, async ({ step, event }) => {
    const marks = runs.get(event.data.n) ?? { started: performance.now(), steps: [], ended: 0 };
    runs.set(event.data.n, marks);
    for (let i = 0; i < STEPS; i++) await step.run(`step-${i}`, () => marks.steps.push(performance.now()));
    marks.ended = performance.now();
    finished++;
  });
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Number((sorted[Math.floor(sorted.length / 2)] ?? 0).toFixed(2));
}

async function until(fact: () => boolean): Promise<void> {
  while (!fact()) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Counts what is sent to the database from now on. */
function countStatements(): () => number {
  let count = 0;
  const query = Client.prototype.query;
  Client.prototype.query = function (this: Client, ...args: unknown[]) {
    count++;
    return Reflect.apply(query, this, args);
  };
  return () => count;
}

/** CPU of one run when every checkpoint is answered at once and nothing is stored. */
async function measureSdk() {
  const client = new Inngest({
    id: "sdk",
    isDev: true,
    baseUrl: "http://engine.local",
    fetch: async () => Response.json({}),
    logger: quiet,
  });
  const handler = serve({ client, functions: [defineWork(client)] });
  const once = async (n: number) => {
    const response = await handler(
      buildCall({
        functionId: "sdk-work",
        stepId: "step",
        runId: `run-${n}`,
        jobId: `job-${n}`,
        generation: 1,
        attempt: 0,
        maxAttempts: 4,
        event: { id: `${n}`, name: "go", data: { n }, ts: 0 },
        memo: [],
        planOnly: false,
      }),
    );
    await response.text();
  };
  for (let n = 0; n < 50; n++) await once(-n - 1);
  const cpu = process.cpuUsage();
  for (let n = 0; n < 200; n++) await once(-n - 100);
  const { user, system } = process.cpuUsage(cpu);
  return { cpuMsPerRun: Number(((user + system) / 1_000 / 200).toFixed(2)) };
}

async function main(): Promise<void> {
  const sdk = await measureSdk();
  const postgres = await startOwnPostgres();
  const pool = new Pool({ ...postgres.connection, max: 20 });
  const engine = createEmbeddedEngine({
    pool,
    listenConfig: postgres.connection,
    clock: systemClock,
    log: createLogger({ level: "warn", destination: STDERR }),
  });
  const client = new Inngest({
    id: "bench",
    fetch: engine.fetch,
    isDev: true,
    baseUrl: "http://engine.local",
    logger: quiet,
  });
  await engine.register(client, [defineWork(client)]);
  await engine.start();

  const singles: { toStart: number; gap: number; whole: number }[] = [];
  for (let n = 0; n < SINGLE_RUNS; n++) {
    const before = finished;
    const sent = performance.now();
    await client.send({ name: "go", data: { n } });
    await until(() => finished > before);
    const { started, steps, ended } = runs.get(n) ?? { started: 0, steps: [], ended: 0 };
    const gaps = steps.slice(1).map((at, i) => at - (steps[i] ?? 0));
    singles.push({ toStart: started - sent, gap: median(gaps), whole: ended - started });
  }

  const before = finished;
  const cpu = process.cpuUsage();
  const began = performance.now();
  await Promise.all(
    Array.from({ length: BURST_RUNS }, (_, i) => client.send({ name: "go", data: { n: SINGLE_RUNS + i } })),
  );
  const sentMs = performance.now() - began;
  await until(() => finished - before >= BURST_RUNS);
  const burstMs = performance.now() - began;
  const burstCpu = process.cpuUsage(cpu);

  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const statements = countStatements();
  const idleCpu = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const { user, system } = process.cpuUsage(idleCpu);
  const idleStatements = statements();

  process.stdout.write(
    `${JSON.stringify(
      {
        sdkAlone: sdk,
        single: {
          sendToStartMs: median(singles.map((one) => one.toStart)),
          gapPerStepMs: median(singles.map((one) => one.gap)),
          wholeRunMs: median(singles.map((one) => one.whole)),
        },
        burst: {
          runs: BURST_RUNS,
          sentMs: Math.round(sentMs),
          ms: Math.round(burstMs),
          runsPerSecond: Math.round(BURST_RUNS / (burstMs / 1_000)),
          cpuMsPerRun: Number(((burstCpu.user + burstCpu.system) / 1_000 / BURST_RUNS).toFixed(2)),
        },
        idle: {
          cpuPercent: Number((((user + system) / 1_000 / IDLE_MS) * 100).toFixed(2)),
          statementsPerSecond: Number((idleStatements / (IDLE_MS / 1_000)).toFixed(2)),
        },
      },
      null,
      2,
    )}\n`,
  );
  await engine.stop(1_000);
  await pool.end();
  await postgres.stop();
}

await main();
