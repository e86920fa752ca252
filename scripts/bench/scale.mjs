import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { v7 } from "uuid";
import { clusterUrl, createCluster, startCluster } from "../postgres/postgres-cluster.mjs";
import { ROOT } from "../support/project.mjs";
import { createThrowaway, removeThrowaway } from "../support/throwaway.mjs";
import { callRow, endItem, startItem, stepRow, TEXT } from "./scale-rows.mjs";
import { postgresCpuMs } from "./targets.mjs";

/**
 * Measures the limit of one PostgreSQL: calls `flush_writes` like the writers of many processes, without the processes. Each
 * worker has its two lanes. In a round, lane `accounts` starts a batch of agent runs and ends an earlier one. Meanwhile
 * lane `journal` writes the rows of the batch between them. Every flush is durable. The database is a throwaway cluster with
 * PostgreSQL's default settings. Linux only: CPU is read from /proc.
 *
 *   node scripts/bench/scale.mjs [--workers 50] [--seconds 10] [--batch 16] [--organizations 50] [--calls 3] [--steps 2]
 *
 * Prints flushes/s, starts/s, the duration of a flush, and PostgreSQL's CPU time and bytes of WAL per run.
 */

const { values: options } = parseArgs({
  options: {
    workers: { type: "string", default: "50" },
    seconds: { type: "string", default: "10" },
    batch: { type: "string", default: "16" },
    organizations: { type: "string", default: "50" },
    calls: { type: "string", default: "3" },
    steps: { type: "string", default: "2" },
  },
});
const WORKERS = Number(options.workers);
const SECONDS = Number(options.seconds);
const BATCH = Number(options.batch);
const CALLS = Number(options.calls);
const STEPS = Number(options.steps);

/** @typedef {import("./scale-rows.mjs").Organization} Organization */
/** @typedef {import("./scale-rows.mjs").Run} Run */

/** The totals of all workers, and the duration of each flush in ms. */
const done = { flushes: 0, starts: 0, ended: 0, refused: 0, times: /** @type {number[]} */ ([]) };

/** @param {pg.Client} client */
async function migrate(client) {
  const folder = join(ROOT, "prisma/migrations");
  for (const name of readdirSync(folder).toSorted()) {
    if (/^\d/.test(name)) await client.query(readFileSync(join(folder, name, "migration.sql"), "utf8"));
  }
}

/** @param {pg.Client} client @param {number} count @returns {Promise<Organization[]>} */
async function seed(client, count) {
  const document = JSON.stringify({ kind: "agent", name: "Bench", prompt: TEXT });
  const hash = createHash("sha256").update(document).digest("hex");
  const organizations = Array.from({ length: count }, () => ({ id: v7(), agent: v7(), hash }));
  await client.query(
    `WITH org AS (
       INSERT INTO organizations (id, slug, name, balance, ledger_sequence, created_at, updated_at)
       SELECT id, 'bench-' || n, 'Bench', 1e9, 1, now(), now() FROM unnest($1::uuid[]) WITH ORDINALITY AS o (id, n) RETURNING id
     ), plan AS (
       INSERT INTO plans (organization_id, concurrency, updated_at) SELECT id, 10000, now() FROM org
     ), entry AS (
       INSERT INTO credit_entries (organization_id, sequence, kind, amount, balance_before, balance_after, actor, created_at)
       SELECT id, 1, 'grant', 1e9, 0, 1e9, 'bench', now() FROM org
     ), agent AS (
       INSERT INTO agents (id, organization_id, slug, name, created_at, updated_at)
       SELECT agent, id, 'bench', 'Bench', now(), now() FROM unnest($1::uuid[], $2::uuid[]) AS o (id, agent)
     )
     INSERT INTO configurations (organization_id, hash, document, created_at) SELECT id, decode($3, 'hex'), $4, now() FROM org`,
    [organizations.map(({ id }) => id), organizations.map(({ agent }) => agent), hash, document],
  );
  return organizations;
}

/** @param {number} count @param {(n: number) => object} make */
const upTo = (count, make) => Array.from({ length: count }, (_, index) => make(index + 1));
/** @param {object[]} rows */
const json = (rows) => (rows.length === 0 ? null : JSON.stringify(rows));

/**
 * One lane: a connection with numbered flushes.
 * @param {string} url
 * @param {string} worker
 * @param {"accounts" | "journal"} lane
 */
async function openLane(url, worker, lane) {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {}); // As above: a query of it reports the failure.
  await client.connect();
  let flush = 0;
  return {
    /** @param {{ calls?: object[], steps?: object[], ends?: object[], starts?: object[] }} batch */
    async write({ calls = [], steps = [], ends = [], starts = [] }) {
      if (calls.length + steps.length + ends.length + starts.length === 0) return null;
      flush += 1;
      const began = performance.now();
      const { rows } = await client.query({
        name: "flush-writes",
        text: "SELECT flush_writes($1, $2, $3, NULL, 1000000, NULL, $4, $5, $6, NULL, $7) AS answer",
        values: [worker, lane, flush, json(calls), json(steps), json(ends), json(starts)],
      });
      done.times.push(performance.now() - began);
      done.flushes += 1;
      return rows[0].answer === null ? null : JSON.parse(rows[0].answer);
    },
    close: () => client.end(),
  };
}

/** @param {string} url @param {Organization[]} organizations @param {{ until: number, number: number }} options */
async function work(url, organizations, { until, number }) {
  const id = `worker-${v7()}`;
  const accounts = await openLane(url, id, "accounts");
  const journal = await openLane(url, id, "journal");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    `WITH worker AS (INSERT INTO workers (id, heartbeat_at) VALUES ($1, now()) RETURNING id)
     INSERT INTO worker_lanes (worker_id, lane) SELECT id, lane FROM worker, unnest(ARRAY['accounts', 'journal']) AS lane`,
    [id],
  );
  await client.end();
  /** @type {Run[]} */
  let started = [];
  /** @type {Run[]} */
  let written = [];
  for (let round = 0; performance.now() < until || started.length + written.length > 0; round += 1) {
    const isOver = performance.now() >= until;
    const starts = isOver
      ? []
      : Array.from({ length: BATCH }, (_, i) => {
          const organization = organizations[(number + round * BATCH + i) % organizations.length];
          if (organization === undefined) throw new Error("no organization");
          return startItem(organization, i);
        });
    const [answer] = await Promise.all([
      // The last call of each run is committed with its end, as in the journal.
      accounts.write({
        starts,
        ends: written.map((run, i) => endItem(run, i, { calls: CALLS, steps: STEPS })),
        calls: written.map((run) => callRow(run, CALLS)),
      }),
      journal.write({
        calls: started.flatMap((run) => upTo(CALLS - 1, (n) => callRow(run, n))),
        steps: started.flatMap((run) => upTo(STEPS, (n) => stepRow(run, n))),
      }),
    ]);
    done.ended += answer?.ended?.length ?? 0;
    written = started;
    const verdicts = /** @type {string[]} */ (answer?.starts ?? []);
    started = starts
      .filter((_, i) => verdicts[i] === "run" || verdicts[i] === "run+")
      .map(({ id: run, org }) => ({ run, org }));
    done.starts += started.length;
    done.refused += verdicts.length - started.length;
  }
  return async () => {
    await accounts.close();
    await journal.close();
  };
}

/** @param {number[]} sorted @param {number} share */
const percentile = (sorted, share) =>
  (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);

const folder = await createThrowaway();
try {
  const settings = { max_connections: String(WORKERS * 3 + 20) };
  const cluster = { folder: join(folder, "postgres"), password: "bench", settings };
  await createCluster(cluster);
  const { pid, port } = await startCluster(cluster);
  const url = clusterUrl(cluster, port, "postgres");
  const client = new pg.Client({ connectionString: url });
  // When something fails, the cluster is stopped under this connection; that must not hide what failed.
  client.on("error", () => {});
  await client.connect();
  await migrate(client);
  const organizations = await seed(client, Number(options.organizations));
  const walOf = async () =>
    Number((await client.query("SELECT pg_current_wal_lsn() - '0/0' AS bytes")).rows[0].bytes);

  const before = { cpu: postgresCpuMs(pid), wal: await walOf(), own: process.cpuUsage() };
  const began = performance.now();
  const workers = Array.from({ length: WORKERS }, (_, number) =>
    work(url, organizations, { until: began + SECONDS * 1000, number }),
  );
  const closing = await Promise.all(workers);
  const seconds = (performance.now() - began) / 1000;
  const cpu = postgresCpuMs(pid) - before.cpu;
  const wal = await walOf();
  const own = process.cpuUsage(before.own);
  for (const close of closing) await close();

  const per = (/** @type {number} */ total) => (total / Math.max(1, done.ended)).toFixed(3);
  const times = done.times.toSorted((a, b) => a - b);
  console.log(
    `workers ${WORKERS}, batch ${BATCH}, organizations ${organizations.length}, ${seconds.toFixed(1)} s`,
  );
  console.log(`rows of a run: ${CALLS} model calls, ${STEPS} steps`);
  console.log(`flushes/s                 ${(done.flushes / seconds).toFixed(0)}`);
  console.log(
    `starts/s                  ${(done.starts / seconds).toFixed(0)} (ended ${done.ended}, not started ${done.refused})`,
  );
  console.log(`a flush, ms               p50 ${percentile(times, 0.5)}, p99 ${percentile(times, 0.99)}`);
  console.log(`PostgreSQL, CPU ms a run  ${per(cpu)} (${(cpu / seconds / 1000).toFixed(2)} cores)`);
  console.log(
    `WAL, bytes a run          ${(((wal - before.wal) / Math.max(1, done.ended)) | 0).toLocaleString("en")}`,
  );
  console.log(`this process, CPU ms      ${per((own.user + own.system) / 1000)} a run`);
  const { rows } = await client.query(
    `SELECT count(*)::int AS broken FROM organizations o
     WHERE balance <> (SELECT sum(amount) FROM credit_entries WHERE organization_id = o.id) OR in_flight <> 0`,
  );
  console.log(`organizations whose ledger or count of runs does not add up: ${rows[0].broken}`);
  if (rows[0].broken > 0 || done.ended !== done.starts) process.exitCode = 1;
  await client.end();
} finally {
  await removeThrowaway(folder);
}
