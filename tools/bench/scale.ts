import { parseArgs } from "node:util";
import pg from "pg";
import { migrate } from "@/server/base/db/migrate";
import { readEnvironment } from "@/server/base/settings/env";
import { closeServices, wire } from "@/wiring";
import { startThrowawayCluster } from "../../scripts/postgres/throwaway.mjs";
import { postgresCpuMs } from "../process-figures";
import { summarize } from "./load";
import { CALLS, openWriter, prepareStarts, STEPS, writeRun } from "./write-run";

/**
 * `npm run bench:scale`: measures the limit of one PostgreSQL with the writers of many processes. Each worker keeps
 * a batch of equal agent runs in progress. Every flush is durable. Linux only, because CPU is read from /proc.
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
const done = { ended: 0, lost: 0, rejected: 0 };
/** The durations are in ms. */
const flushTimes: number[] = [];

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
        if (start) done[await writeRun(services, writer, start)] += 1;
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
    console.log(`Node ${process.version}, workers ${WORKERS}, batch ${BATCH}, organizations ${starts.length}, ${seconds.toFixed(1)} s
rows of a run: ${CALLS} model calls, ${STEPS} steps
flushes/s                 ${(flushTimes.length / seconds).toFixed(0)}
starts/s                  ${((done.ended + done.lost) / seconds).toFixed(0)} (ended ${done.ended}, not started ${done.rejected})
a flush, ms               p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)}
PostgreSQL, CPU ms a run  ${perRun(cpu)} (${(cpu / seconds / 1000).toFixed(2)} cores)
WAL, bytes a run          ${Math.round(Number(perRun(wal))).toLocaleString("en")}
this process, CPU ms      ${perRun((own.user + own.system) / 1000)} a run
organizations whose ledger or count of runs does not add up: ${rows[0].broken}`);
    if (rows[0].broken > 0 || done.lost + done.rejected > 0) process.exitCode = 1;
    await closeServices(services);
    await client.end();
  } finally {
    await cluster.stop();
  }
}

await main();
