import { existsSync, mkdirSync } from "node:fs";
import { cpus } from "node:os";
import { join, resolve } from "node:path";
import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import pg from "pg";
import { z } from "zod";
import type { MemberActor } from "@/server/auth/actor";
import { mintOrgId } from "@/server/auth/mint-org-id";
import { listAgents, listTools, listTriggers } from "@/server/catalog/overview";
import { listLedger, readBalance } from "@/server/credits/read-ledger";
import { migrate } from "@/server/db/migrate";
import { readEnvironment } from "@/server/env";
import { listAudit } from "@/server/operate/read-audit";
import { countSettledRuns } from "@/server/runs/read/count";
import { RUN_PERIODS } from "@/server/runs/read/enums";
import { exportRuns } from "@/server/runs/read/export";
import type { RunFilter } from "@/server/runs/read/filter";
import { findFitting, findRunIds } from "@/server/runs/read/find";
import { listRuns } from "@/server/runs/read/list";
import { readRunMetrics } from "@/server/runs/read/metrics/metrics";
import { listDeliveries } from "@/server/webhooks/inspect-deliveries";
import { wire } from "@/wiring";
import { clusterUrl, createCluster, startCluster, stopCluster } from "../postgres/postgres-cluster.mjs";
import { createThrowaway, removeThrowaway } from "../throwaway.mjs";
import { findLandmarks, type Landmarks, seedMillionRuns } from "./million-runs";

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
const LIST_MS = 100;
const METRICS_MS = 250;
const print = (text: string) => console.error(`${(performance.now() / 1_000).toFixed(0)} s  ${text}`);

type Question = { name: string; boundMs: number; ask: () => Promise<unknown> };
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
  const shape = z.object({ text: z.string(), values: z.array(z.unknown()).optional() });
  Object.defineProperty(pool, "query", {
    value: (config: pg.QueryConfig | string, values?: unknown[]) => {
      const text = typeof config === "string" ? config : shape.parse(config).text;
      const given = values ?? (typeof config === "string" ? [] : (shape.parse(config).values ?? []));
      sent.push({ text, values: given });
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

function questionsOf(services: ReturnType<typeof wire>, at: Landmarks): Question[] {
  const actor: MemberActor = {
    kind: "member",
    orgId: mintOrgId(at.orgId),
    userId: at.user,
    name: "Person 0",
    role: "owner",
  };
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  /** The smallest UUID v7 of a day in the middle of the history. */
  const deep = `${Math.floor(Date.now() - 45 * 86_400_000)
    .toString(16)
    .padStart(12, "0")
    .replace(/^(.{8})/, "$1-")}-7000-8000-000000000000`;
  /** As many as a stream names at once. */
  const changed = findRunIds(services, actor.orgId, {}, { before: deep, limit: 200 });
  const list = (name: string, filter: RunFilter, before?: string): Question => ({
    name: `list: ${name}`,
    boundMs: LIST_MS,
    ask: () => listRuns(services, actor, { filter, before, limit: 50 }),
  });
  const other = (name: string, ask: () => Promise<unknown>, boundMs = LIST_MS): Question => ({
    name,
    boundMs,
    ask,
  });
  return [
    list("first page", {}),
    list("a page in the middle of the history", {}, deep),
    list("status Failed", { status: ["Failed"] }),
    list("status Cancelled, deep", { status: ["Cancelled"] }, deep),
    list("status Pending or Running", { status: ["Pending", "Running"] }),
    list("all statuses but one", { status: ["Pending", "Running", "Completed", "Failed"] }),
    list("kind", { kind: "tool" }),
    list("source webhook", { source: "webhook" }),
    list("source operator", { source: "operator" }),
    list("common agent", { agentId: at.commonAgent }),
    list("rare tool", { toolId: at.rareTool }),
    list("trigger", { triggerId: at.trigger }),
    list("key, deep", { apiKeyId: at.key }, deep),
    list("last hour", { period: "1h" }),
    list("last 30 days, Failed", { period: "30d", status: ["Failed"] }),
    list("a day two months ago", { from: daysAgo(60), to: daysAgo(59) }),
    list("a day two months ago, Cancelled", { from: daysAgo(60), to: daysAgo(59), status: ["Cancelled"] }),
    list("rare tool and rare status", { toolId: at.rareTool, status: ["Cancelled"] }),
    list("common agent and Failed, which never meet", { agentId: at.commonAgent, status: ["Failed"] }),
    list("common tool and webhook, which never meet", { toolId: at.commonTool, source: "webhook" }),
    list("kind agent and common tool, which cannot meet", { toolId: at.commonTool, kind: "agent" }),
    list("common tool, Cancelled, 30 days: nothing", {
      toolId: at.commonTool,
      status: ["Cancelled"],
      period: "30d",
    }),
    list("person", { userId: at.user }),
    list("two statuses", { status: ["Failed", "Cancelled"] }),
    list("took over a minute", { minDurationMs: 60_000 }),
    list("took over an hour: nearly none", { minDurationMs: 3_600_000 }),
    list("took over a day: none", { minDurationMs: 86_400_000 }),
    list("cost over 50 credits", { minCredits: "50" }),
    list("between 1,000 and 1,010 tokens", { minTokens: 1_000, maxTokens: 1_010 }),
    list("Failed, a tool, over a minute", {
      status: ["Failed"],
      toolId: at.commonTool,
      minDurationMs: 60_000,
    }),
    list("text: very common word", { text: at.commonWord }),
    list("text: very common word, deep", { text: at.commonWord }, deep),
    list("text: word in 2 %", { text: at.someWord }),
    list("text: rare word", { text: at.rareWord }),
    list("text: word of one run", { text: at.uniqueWord }),
    list("text: word of no run", { text: "xylophonist" }),
    list("text: beginning of every reference", { text: "ref1" }),
    list("text: two letters", { text: "ka" }),
    list("text: one letter", { text: "a" }),
    list("text: two letters and a word of no run", { text: "ka xylophonist" }),
    list("text: two common words", { text: "order customer" }),
    list("text: words of errors", { text: "timeout shard13" }),
    list("text: common word, Failed", { text: at.commonWord, status: ["Failed"] }),
    list("text: common word, rare tool", { text: at.commonWord, toolId: at.rareTool }),
    list("text: common word, combination without runs", {
      text: at.commonWord,
      agentId: at.commonAgent,
      status: ["Failed"],
    }),
    list("text: rare word, common agent", { text: at.rareWord, agentId: at.commonAgent }),
    list("text: an id's beginning", { text: at.orgId.slice(0, 8) }),
    ...[
      { name: "all", filter: {} },
      { name: "a common word", filter: { text: at.commonWord } },
      { name: "a word of no run", filter: { text: "xylophonist" } },
    ].flatMap(({ name, filter }) => [
      other(`live: a thousand ids, ${name}`, () =>
        findRunIds(services, actor.orgId, filter, { limit: 1_000 }),
      ),
      other(`live: which of 200 fit, ${name}`, async () =>
        findFitting(services, actor.orgId, filter, await changed),
      ),
    ]),
    ...RUN_PERIODS.map((period) =>
      other(`metrics: ${period}`, () => readRunMetrics(services, actor, { period }), METRICS_MS),
    ),
    ...RUN_PERIODS.map((period) =>
      other(
        `metrics: ${period}, common agent`,
        () =>
          readRunMetrics(services, actor, { period, subject: { dimension: "agent", id: at.commonAgent } }),
        METRICS_MS,
      ),
    ),
    other("balance", () => readBalance(services, actor)),
    other("ledger: first page", () => listLedger(services, actor, { holds: true, limit: 50 })),
    other("ledger: deep page", () =>
      listLedger(services, actor, { holds: true, before: 1_500_000, limit: 50 }),
    ),
    other("ledger: grants, of which there is one", () =>
      listLedger(services, actor, { holds: true, kind: "grant", limit: 50 }),
    ),
    other("ledger: refunds, of which there are none", () =>
      listLedger(services, actor, { holds: true, kind: "refund", limit: 50 }),
    ),
    other("audit log: first page", () => listAudit(services, actor, { limit: 50 })),
    other("audit log: deep page", () => listAudit(services, actor, { before: deep, limit: 50 })),
    other("deliveries: first page", () =>
      listDeliveries(services, actor, { triggerId: at.trigger, limit: 50 }),
    ),
    other("deliveries: rejected", () =>
      listDeliveries(services, actor, { triggerId: at.trigger, outcome: "rejected", limit: 50 }),
    ),
    other("deliveries: repeated, of which there are none", () =>
      listDeliveries(services, actor, { triggerId: at.trigger, outcome: "repeated", limit: 50 }),
    ),
    other("agents with their last runs", () => listAgents(services, actor)),
    other("tools with their last runs", () => listTools(services, actor)),
    other("triggers with their last runs", () => listTriggers(services, actor)),
    other("export: first piece", async () => {
      const pieces = exportRuns(services, actor, { filter: {}, format: "csv" });
      await pieces.next();
      await pieces.next();
      await pieces.return(undefined);
    }),
  ];
}

const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
const round = (ms: number) => Number(ms.toFixed(1));

await main();
