import { parseArgs } from "node:util";
import pg from "pg";
import { applyDefinitionFile } from "@/server/catalog/definition-file/apply";
import { operatorOf } from "@/server/catalog/organization/organizations";
import { Decimal } from "@/server/credits/amount";
import { migrate } from "@/server/db/migrate";
import { readEnvironment } from "@/server/env";
import { newId } from "@/server/ids";
import type { ModelReply } from "@/server/models/port";
import { endClaimedRun } from "@/server/runs/engine/end-run";
import { callChange, newCallRow, newStepRow, stepChange } from "@/server/runs/engine/write/journal-rows";
import { Lane } from "@/server/runs/engine/write/writer";
import { prepareStart } from "@/server/runs/prepare-start";
import { claimedRun, startItem } from "@/server/runs/start-item";
import type { Services } from "@/server/services";
import { closeServices, wire } from "@/wiring";
import { postgresCpuMs } from "../support/processes.mjs";
import { startThrowawayCluster } from "../support/throwaway.mjs";
import { summarize } from "./load";

/**
 * `npm run bench:scale`: measures the limit of one PostgreSQL with the writers of many processes, without the processes.
 * Each worker keeps a batch of equal agent runs in progress: it starts one, writes its rows, ends it and starts the next.
 * Every flush is durable. The database is a throwaway cluster with PostgreSQL's default settings. Linux only: CPU is read
 * from /proc.
 *
 * Prints flushes/s, starts/s, the duration of a flush, and PostgreSQL's CPU time and bytes of WAL per run.
 */
const { values: options } = parseArgs({
  options: {
    workers: { type: "string", default: "50" },
    seconds: { type: "string", default: "10" },
    batch: { type: "string", default: "16" },
  },
});
const WORKERS = Number(options.workers);
const BATCH = Number(options.batch);
/** Of each run: as many as docs/scale.md counts. */
const CALLS = 3;
const STEPS = 2;

const INPUT = "What do twelve apples at 0.80 cost, and what is left of a note of 20? ".repeat(8);
const TEXT = "The answer is made of a few sentences, as most answers of a model are. ".repeat(6);

const DEFINITIONS = {
  organizations: Array.from({ length: 50 }, (_, n) => ({
    slug: `bench-${n}`,
    plan: { concurrency: 10_000 },
    credits: 1_000_000_000,
    agents: [{ slug: "bench", name: "Bench", model: "bench" }],
  })),
};

/** The totals of all workers. */
const done = { starts: 0, ended: 0, refused: 0 };
/** The duration of each flush in ms. */
const flushTimes: number[] = [];

/** What a start of each organization's agent has in common. */
async function prepareStarts(services: Services) {
  const applied = await applyDefinitionFile(services, JSON.stringify(DEFINITIONS));
  return Promise.all(
    applied.map(async ({ slug, agents: [agent] }) => {
      const actor = await operatorOf(services, slug, "bench");
      const request = { kind: "agent", targetId: agent?.id ?? "", userMessage: INPUT } as const;
      const prepared = await prepareStart(services, actor, request);
      await services.pool.query("INSERT INTO configurations VALUES ($1, $2, $3, now())", [
        actor.orgId,
        Buffer.from(prepared.hash, "hex"),
        prepared.document,
      ]);
      return { actor, request, prepared, conditions: {} };
    }),
  );
}

type Start = Awaited<ReturnType<typeof prepareStarts>>[number];

/** A worker's writer, as in server/runs/engine/worker.ts without the heartbeat. */
async function openWriter(services: Services) {
  const workerId = `worker-${newId()}`;
  await services.pool.query(
    `WITH worker AS (INSERT INTO workers (id, heartbeat_at) VALUES ($1, now()) RETURNING id)
     INSERT INTO worker_lanes (worker_id, lane) SELECT id, lane FROM worker, unnest(ARRAY['accounts', 'journal']) AS lane`,
    [workerId],
  );
  const ignore = () => {};
  const listeners = { freeSlots: () => 1_000_000, onStart: ignore, onAdmitted: ignore, onLost: ignore };
  const open = (lane: "accounts" | "journal") => new Lane({ services, workerId, lane, ...listeners });
  return { accounts: open("accounts"), journal: open("journal") };
}

const USAGE = { inputTokens: 300, outputTokens: 100, estimated: false };
const REPLY: ModelReply = {
  content: TEXT,
  toolCalls: [],
  finishReason: "stop",
  usage: USAGE,
  provider: "bench",
  attempts: [],
};
const CALL_CREDITS = new Decimal("0.07");
const STEP_CREDITS = new Decimal("0.01");
const TOTALS = {
  stepsExecuted: STEPS,
  actionsUsed: STEPS,
  inputTokens: USAGE.inputTokens * CALLS,
  outputTokens: USAGE.outputTokens * CALLS,
  creditsUsed: CALL_CREDITS.mul(CALLS).add(STEP_CREDITS.mul(STEPS)),
};
const STEP = { input: '{"expression":"12*0.8"}', reasoning: "", usage: USAGE, hasSideEffects: false };
const RESULT = { output: '{"result":9.6}', error: null, actions: 1, credits: STEP_CREDITS };

/** Starts a run, writes its rows and ends it. The last model call is committed with its end, as in the journal. */
async function writeRun(
  services: Services,
  { accounts, journal }: Awaited<ReturnType<typeof openWriter>>,
  start: Start,
): Promise<void> {
  const parts = { ...start, runId: newId() };
  const limit = { rate_key: `starts:${start.actor.orgId}`, rate_limit: 1_000_000_000, rate_seconds: 60 };
  const { verdict, at } = await accounts.start({ ...startItem(parts), ...limit });
  if (verdict !== "run" && verdict !== "run+") {
    done.refused += 1;
    return;
  }
  done.starts += 1;
  const { hold, headroom } = start.prepared;
  const run = claimedRun(services, parts, { at, held: verdict === "run" ? hold : hold.add(headroom) });
  const calls = Array.from({ length: CALLS }, (_, n) => {
    const call = { key: `think-${n + 1}`, iteration: n + 1, provider: "bench", model: "bench" };
    const row = newCallRow(run, call, at);
    const change = callChange(row, { reply: REPLY, credits: CALL_CREDITS });
    return { ...row, ...change, duration: 3, sequence: n * 2 + 2 };
  });
  const steps = Array.from({ length: STEPS }, (_, n) => {
    const step = { key: `call-${n + 1}-1`, stepNumber: n + 1, iteration: n + 1, toolName: "calculate" };
    const row = newStepRow(run, { ...step, ...STEP }, at);
    return { ...row, ...stepChange(RESULT), duration: 3, sequence: n * 2 + 3 };
  });
  await Promise.all([...calls.slice(0, -1), ...steps].map((row) => journal.row(row)));
  const outcome = { status: "Completed", output: TEXT } as const;
  const end = { outcome, totals: TOTALS, sequence: CALLS + STEPS + 2, rows: calls.slice(-1) };
  if (await endClaimedRun({ accounts }, run, end)) done.ended += 1;
}

/** Measures every flush: Lane sends it as a named statement. */
function measureFlushes(): void {
  const { query } = pg.Client.prototype;
  Object.defineProperty(pg.Client.prototype, "query", {
    value(this: pg.Client, config: pg.QueryConfig, ...rest: unknown[]) {
      const began = performance.now();
      const sent = Reflect.apply(query, this, [config, ...rest]);
      if (config.name === "flush-writes")
        sent.then(
          () => flushTimes.push(performance.now() - began),
          () => {},
        );
      return sent;
    },
  });
}

async function main(): Promise<void> {
  measureFlushes();
  const cluster = await startThrowawayCluster({ max_connections: String(WORKERS * 2 + 40) });
  try {
    const client = new pg.Client({ connectionString: cluster.url });
    // When something fails, the cluster is stopped under this connection; that must not hide what failed.
    client.on("error", () => {});
    await client.connect();
    await migrate(client, "prisma/migrations");
    const settings = { DATABASE_URL: cluster.url, STEPWELL_SECRET: "bench".repeat(8), LOG_LEVEL: "error" };
    const services = wire(readEnvironment(settings));
    const starts = await prepareStarts(services);
    const writers = await Promise.all(Array.from({ length: WORKERS }, () => openWriter(services)));
    const readWal = async () =>
      Number((await client.query("SELECT pg_current_wal_lsn() - '0/0' AS bytes")).rows[0].bytes);

    const before = { cpu: postgresCpuMs(cluster.pid), wal: await readWal(), own: process.cpuUsage() };
    const began = performance.now();
    const until = began + Number(options.seconds) * 1_000;
    let next = 0;
    const keepStarting = async (writer: (typeof writers)[number]) => {
      while (performance.now() < until) {
        const start = starts[next++ % starts.length];
        if (start) await writeRun(services, writer, start);
      }
    };
    await Promise.all(writers.flatMap((writer) => Array.from({ length: BATCH }, () => keepStarting(writer))));
    const seconds = (performance.now() - began) / 1000;
    const cpu = postgresCpuMs(cluster.pid) - before.cpu;
    const wal = (await readWal()) - before.wal;
    const own = process.cpuUsage(before.own);
    await Promise.all(writers.flatMap(({ accounts, journal }) => [accounts.close(), journal.close()]));

    const perRun = (total: number) => (total / Math.max(1, done.ended)).toFixed(3);
    const { p50, p99 } = summarize(flushTimes);
    const { rows } = await client.query(
      `SELECT count(*)::int AS broken FROM organizations o
       WHERE balance <> (SELECT sum(amount) FROM credit_entries WHERE organization_id = o.id) OR in_flight <> 0`,
    );
    console.log(`workers ${WORKERS}, batch ${BATCH}, organizations ${starts.length}, ${seconds.toFixed(1)} s
rows of a run: ${CALLS} model calls, ${STEPS} steps
flushes/s                 ${(flushTimes.length / seconds).toFixed(0)}
starts/s                  ${(done.starts / seconds).toFixed(0)} (ended ${done.ended}, not started ${done.refused})
a flush, ms               p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)}
PostgreSQL, CPU ms a run  ${perRun(cpu)} (${(cpu / seconds / 1000).toFixed(2)} cores)
WAL, bytes a run          ${Math.round(Number(perRun(wal))).toLocaleString("en")}
this process, CPU ms      ${perRun((own.user + own.system) / 1000)} a run
organizations whose ledger or count of runs does not add up: ${rows[0].broken}`);
    if (rows[0].broken > 0 || done.ended !== done.starts) process.exitCode = 1;
    await closeServices(services);
    await client.end();
  } finally {
    await cluster.stop();
  }
}

await main();
