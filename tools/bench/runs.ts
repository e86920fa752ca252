import { cpus } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { PLAN_WITH_INDEXES } from "@/server/base/db/client";
import { migrate } from "@/server/base/db/migrate";
import { readEnvironment } from "@/server/base/settings/env";
import { countSettledRuns } from "@/server/runs/read/find/count";
import type { Services } from "@/server/services";
import { closeServices, wire } from "@/wiring";
import { joinPostgres } from "../../scripts/postgres/postgres.mjs";
import { createThrowaway, removeThrowaway } from "../../scripts/postgres/throwaway.mjs";
import { summarize } from "./load";
import { findLandmarks, seedMillionRuns } from "./million-runs";
import { questionsOf } from "./runs-questions";

/**
 * `npm run bench:runs`: measures the dashboard's queries with a million runs under EXPLAIN (ANALYZE, BUFFERS). `--
 * --data FOLDER` stores the cluster, which takes minutes to fill, for the next time. `--only TEXT` selects queries
 * by name, `--plans` prints plans. Exits with 1 if a query takes longer than its bound.
 */
const { values: options } = parseArgs({
  options: {
    runs: { type: "string", default: "1000000" },
    data: { type: "string" },
    only: { type: "string", default: "" },
    plans: { type: "boolean", default: false },
    rounds: { type: "string", default: "5" },
  },
});
const print = (text: string) => console.error(`${(performance.now() / 1_000).toFixed(0)} s  ${text}`);

type Statement = { text: string; values: unknown[] };

async function main(): Promise<void> {
  const folder = options.data === undefined ? await createThrowaway() : resolve(options.data);
  const { url, leave } = await joinPostgres(folder);
  const client = new pg.Client({ connectionString: url });
  try {
    client.on("error", (error) => print(error.message)); // If this ends with another error, the server ends first.
    await client.connect();
    await client.query(PLAN_WITH_INDEXES);
    await migrate(client, "prisma/migrations");
    const settings = { DATABASE_URL: url, STEPWELL_SECRET: "bench".repeat(8), LOG_LEVEL: "error" };
    const services = wire(readEnvironment(settings));
    const { rowCount } = await client.query("SELECT FROM runs LIMIT 1");
    if (rowCount === 0) await seedMillionRuns(services, client, { runs: Number(options.runs), print });
    print(`${await countSettledRuns(services)} stretches of settled runs counted`);
    await measureAll(services, client);
    await closeServices(services);
    await client.end();
  } finally {
    await leave();
    if (options.data === undefined) await removeThrowaway(folder);
  }
}

async function measureAll(services: Services, client: pg.Client): Promise<void> {
  const sent = captureStatements(services.pool);
  const table: object[] = [];
  for (const { name, ask, boundMs } of questionsOf(services, await findLandmarks(client))) {
    if (!name.includes(options.only)) continue;
    await ask();
    const walls: number[] = [];
    const rounds: Plan[] = [];
    for (let round = 0; round < Number(options.rounds); round += 1) {
      sent.length = 0;
      const began = performance.now();
      await ask();
      walls.push(performance.now() - began);
      rounds.push(await explainAll(client, [...sent]));
    }
    rounds.sort((a, b) => a.ms - b.ms);
    const typical = rounds[Math.floor(rounds.length / 2)] ?? NO_PLAN;
    const row = {
      question: name,
      statements: typical.statements,
      databaseMs: round(typical.ms),
      worstMs: round(rounds.at(-1)?.ms ?? 0),
      wallMs: round(summarize(walls).p50),
      pagesHit: typical.hit,
      pagesRead: typical.read,
      over: typical.ms > boundMs ? "OVER" : "",
    };
    table.push(row);
    print(JSON.stringify(row));
    if (options.plans) console.log(`\n${name}${typical.text}`);
    if (typical.ms > boundMs) process.exitCode = 1;
  }
  console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}, ${new Date().toISOString()}`);
  console.table(table);
}

function captureStatements(pool: pg.Pool): Statement[] {
  const sent: Statement[] = [];
  const query = pool.query.bind(pool);
  Object.defineProperty(pool, "query", {
    value: (config: pg.QueryConfig | string, values?: unknown[]) => {
      const given = typeof config === "string" ? { text: config } : config;
      sent.push({ text: given.text, values: given.values ?? values ?? [] });
      return query(config, values);
    },
  });
  return sent;
}

type Plan = { statements: number; ms: number; hit: number; read: number; text: string };
const NO_PLAN: Plan = { statements: 0, ms: 0, hit: 0, read: 0, text: "" };

async function explainAll(client: pg.Client, statements: Statement[]): Promise<Plan> {
  const sum = { ...NO_PLAN };
  for (const { text, values } of statements) {
    if (!/^\s*(SELECT|WITH)/i.test(text)) continue;
    const { rows } = await client.query<{ "QUERY PLAN": string }>(
      `EXPLAIN (ANALYZE, BUFFERS) ${text}`,
      values,
    );
    const plan = rows.map((line) => line["QUERY PLAN"]).join("\n");
    const figure = (pattern: RegExp, text = plan) => Number(pattern.exec(text)?.[1] ?? 0);
    // The first of these lines has the pages of the whole statement.
    const [buffers = ""] = /shared.*/.exec(plan) ?? [];
    sum.statements += 1;
    sum.ms += figure(/Planning Time: ([\d.]+)/) + figure(/Execution Time: ([\d.]+)/);
    sum.hit += figure(/shared hit=(\d+)/, buffers);
    sum.read += figure(/shared[^,]* read=(\d+)/, buffers);
    sum.text += `\n${text}\n${plan}`;
  }
  return sum;
}

const round = (ms: number) => Number(ms.toFixed(1));

await main();
