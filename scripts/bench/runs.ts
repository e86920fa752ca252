import { existsSync, mkdirSync } from "node:fs";
import { cpus } from "node:os";
import { join, resolve } from "node:path";
import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import pg from "pg";
import { z } from "zod";
import { migrate } from "@/server/db/migrate";
import { readEnvironment } from "@/server/env";
import { countSettledRuns } from "@/server/runs/read/count";
import { wire } from "@/wiring";
import { clusterUrl, createCluster, startCluster, stopCluster } from "../postgres/postgres-cluster.mjs";
import { createThrowaway, removeThrowaway } from "../support/throwaway.mjs";
import { findLandmarks, type Landmarks, seedMillionRuns } from "./million-runs";
import { questionsOf } from "./runs-questions";

/**
 * `npm run bench:runs`: measures the dashboard's queries with a million runs. Each query runs through the service's own
 * functions; their statements are captured and repeated under EXPLAIN (ANALYZE, BUFFERS). The cluster has PostgreSQL's
 * default settings and takes minutes to fill; `-- --data FOLDER` stores it for the next time. `--only TEXT` selects
 * queries by name, `--plans` prints the plans. Exits with 1 if a query takes longer than its bound.
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
const ROUNDS = Number(options.rounds);
const print = (text: string) => console.error(`${(performance.now() / 1_000).toFixed(0)} s  ${text}`);

type Statement = { text: string; values: unknown[] };
type Plan = { executionMs: number; planningMs: number; hit: number; read: number; text: string };

async function main(): Promise<void> {
  const folder = options.data === undefined ? await createThrowaway() : resolve(options.data);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const cluster = { folder: join(folder, "postgres"), password: "bench" };
  const isNew = !existsSync(join(cluster.folder, "PG_VERSION"));
  await createCluster(cluster);
  const { port } = await startCluster(cluster);
  try {
    const url = clusterUrl(cluster, port, "postgres");
    const client = new pg.Client({ connectionString: url });
    client.on("error", (error) => print(error.message)); // If this ends with another error, the server ends first.
    await client.connect();
    await migrate(client, "prisma/migrations");
    if (isNew) await seedMillionRuns(client, Number(options.runs), print);
    print("migrated");
    await measureAll(url, client, await findLandmarks(client));
    await client.end();
  } finally {
    if (options.data === undefined) await removeThrowaway(folder);
    else await stopCluster(cluster.folder);
  }
}

async function measureAll(url: string, client: pg.Client, landmarks: Landmarks): Promise<void> {
  const services = wire(
    readEnvironment({
      DATABASE_URL: url,
      STEPWELL_SECRET: "bench-secret-bench-secret-bench-secret",
      LOG_LEVEL: "error",
    }),
  );
  const began = performance.now();
  const counted = await countSettledRuns(services);
  if (counted)
    print(`${counted} stretches of settled runs counted in ${round(performance.now() - began)} ms`);
  const sent: Statement[] = [];
  catchStatements(services.pool, sent);
  const table: object[] = [];
  for (const question of questionsOf(services, landmarks)) {
    if (!question.name.includes(options.only)) continue;
    await question.ask();
    const walls: number[] = [];
    const plans: Plan[][] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      sent.length = 0;
      const began = performance.now();
      await question.ask();
      walls.push(performance.now() - began);
      plans.push(await explainAll(client, [...sent]));
    }
    const times = plans.map((each) =>
      each.reduce((sum, plan) => sum + plan.executionMs + plan.planningMs, 0),
    );
    const typical = plans[times.indexOf(median(times))] ?? [];
    table.push({
      question: question.name,
      statements: typical.length,
      databaseMs: round(median(times)),
      worstMs: round(Math.max(...times)),
      wallMs: round(median(walls)),
      pagesHit: typical.reduce((sum, plan) => sum + plan.hit, 0),
      pagesRead: typical.reduce((sum, plan) => sum + plan.read, 0),
      over: median(times) > question.boundMs ? "OVER" : "",
    });
    print(JSON.stringify(table.at(-1)));
    if (options.plans) for (const plan of typical) console.log(`\n${question.name}\n${plan.text}`);
    if (median(times) > question.boundMs) process.exitCode = 1;
  }
  console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}, ${new Date().toISOString()}`);
  console.table(table);
  await services.db.$disconnect();
  await services.pool.end();
}

/** Collects the statements that the service's functions send, with their values. */
function catchStatements(pool: pg.Pool, sent: Statement[]): void {
  const query = pool.query.bind(pool);
  Object.defineProperty(pool, "query", {
    value: (config: pg.QueryConfig | string, values?: unknown[]) => {
      const given = typeof config === "string" ? { text: config } : config;
      sent.push({ text: given.text, values: given.values ?? values ?? [] });
      return query(config, values);
    },
  });
}

const node = z.object({ "Shared Hit Blocks": z.number(), "Shared Read Blocks": z.number() });
const explained = z.tuple([
  z.object({
    "QUERY PLAN": z.tuple([
      z.looseObject({ Plan: node, "Planning Time": z.number(), "Execution Time": z.number() }),
    ]),
  }),
]);

async function explainAll(client: pg.Client, statements: Statement[]): Promise<Plan[]> {
  const plans: Plan[] = [];
  for (const { text, values } of statements) {
    if (!/^\s*(SELECT|WITH)/i.test(text)) continue;
    const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values);
    const [plan] = explained.parse(rows)[0]["QUERY PLAN"];
    const shown = options.plans
      ? (await client.query<{ "QUERY PLAN": string }>(`EXPLAIN (ANALYZE, BUFFERS) ${text}`, values)).rows
      : [];
    plans.push({
      executionMs: plan["Execution Time"],
      planningMs: plan["Planning Time"],
      hit: plan.Plan["Shared Hit Blocks"],
      read: plan.Plan["Shared Read Blocks"],
      text: [text, ...shown.map((line) => line["QUERY PLAN"])].join("\n"),
    });
  }
  return plans;
}

const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
const round = (ms: number) => Number(ms.toFixed(1));

await main();
