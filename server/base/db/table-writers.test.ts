import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";

// One folder for each table, besides `server/operate`, which deletes, and the database's functions:
// `flush_writes` writes runs, the journal and the ledger.
const WRITERS: Record<string, string[]> = {
  accounts: ["server/catalog/auth"],
  agent_versions: ["server/catalog"],
  agents: ["server/catalog"],
  // When a key was last used.
  api_keys: ["server/catalog/auth", "server/catalog/organization"],
  audit_entries: ["server/base"],
  callback_attempts: ["server/catalog/callbacks/send"],
  callback_deliveries: ["server/catalog/callbacks", "server/catalog/callbacks/send"],
  callback_endpoints: ["server/catalog/callbacks", "server/catalog/callbacks/send"],
  // Waits; the ends of runs are written by `flush_writes`.
  callback_events: [
    "server/catalog/callbacks",
    "server/catalog/callbacks/send",
    "server/runs/engine",
    "server/runs/schedules",
  ],
  callback_secrets: ["server/catalog/callbacks", "server/catalog/callbacks/send"],
  credit_entries: ["server/credits"],
  database_samples: ["server/operate/system"],
  deliveries: ["server/catalog/webhooks"],
  invitations: ["server/catalog/organization"],
  maintenance_jobs: ["server/operate/system"],
  members: ["server/catalog/organization"],
  // The balance, and how many runs have a slot.
  one_time_links: ["server/catalog/auth"],
  organizations: [
    "server/catalog/callbacks",
    "server/catalog/organization",
    "server/credits",
    "server/runs/engine",
  ],
  plans: ["server/catalog/organization", "server/credits"],
  queue_samples: ["server/operate/system"],
  rate_counters: ["server/guard/limits"],
  rate_segments: ["server/guard/limits"],
  run_counts: ["server/runs/read/find"],
  run_counts_until: ["server/runs/read/find"],
  run_index: ["server/runs/read/find"],
  run_index_queue: ["server/runs/read/find"],
  run_events: ["server/runs/engine"],
  runs: ["server/runs", "server/runs/engine"],
  saved_views: ["server/catalog/organization"],
  // The next time, when it is due.
  schedule_ticks: ["server/runs/schedules"],
  schedules: ["server/catalog", "server/catalog/schedules", "server/runs/schedules"],
  // When a secret was last used.
  secrets: ["server/catalog/organization", "server/runs/engine/execute"],
  // An accepted invitation chooses the session's organization.
  sessions: ["server/catalog/auth", "server/catalog/organization"],
  sql_functions: ["server/base/db"],
  settings: ["prisma", "server/guard/secrets"],
  tool_versions: ["server/catalog"],
  tools: ["server/catalog"],
  trace_queue: ["server/operate/traces", "server/runs/read/find"],
  trigger_secrets: ["server/catalog"],
  triggers: ["server/catalog"],
  users: ["server/catalog/auth", "server/catalog/organization"],
  worker_lanes: ["server/runs/engine", "server/runs/engine/write"],
  workers: ["server/runs/engine"],
};

const MODELS = new Map(
  [...readFileSync("prisma/schema.prisma", "utf8").matchAll(/^model (\w+) \{[\s\S]*?@@map\("(\w+)"\)/gm)].map(
    ([, model = "", table = ""]) => [model.charAt(0).toLowerCase() + model.slice(1), table],
  ),
);

const SQL_WRITE = /\b(?:INSERT INTO|UPDATE(?: ONLY)?|DELETE FROM(?: ONLY)?)\s+"?([a-z_]+)"?/g;
const PRISMA_WRITE = /\.(\w+)\s*\.(?:create|update|upsert|delete)(?:Many|ManyAndReturn)?\(/g;

function tablesWrittenBy(text: string): string[] {
  const bySql = [...text.matchAll(SQL_WRITE)].map(([, table = ""]) => table);
  const byPrisma = [...text.matchAll(PRISMA_WRITE)].flatMap(([, model = ""]) => MODELS.get(model) ?? []);
  return [...bySql, ...byPrisma].filter((table) => [...MODELS.values()].includes(table));
}

function sources(): string[] {
  return ["app", "server", "inngest", "scripts/cli", "prisma"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .map((file) => join(folder, file))
      .filter((file) => /\.tsx?$/.test(file) && !/\.test\.ts$|\/generated\//.test(file)),
  );
}

it("each table has one folder that writes it, or the ones listed above", () => {
  const found: Record<string, Set<string>> = {};
  for (const file of sources()) {
    const folder = dirname(file);
    if (folder === "server/operate" && !file.endsWith("audit.ts")) continue;
    for (const table of tablesWrittenBy(readFileSync(file, "utf8"))) {
      found[table] ??= new Set();
      found[table].add(folder);
    }
  }
  const sorted = Object.entries(found).map(([table, folders]) => [table, [...folders].sort()]);
  expect(Object.fromEntries(sorted)).toEqual(WRITERS);
});

it.each([
  ["`INSERT INTO runs (id) VALUES ($1)`", "runs"],
  ['tx.$executeRaw`UPDATE "organizations" SET balance = 0`', "organizations"],
  ["await tx.agentVersion\n  .createMany({ data })", "agent_versions"],
])("that test would find %j", (text, table) => {
  expect(tablesWrittenBy(text)).toEqual([table]);
});

const RAW_STATEMENTS = [
  "server/base/db/",
  // Its connection has a time limit for silence.
  "server/runs/engine/write/numbered-flush.ts",
];

const DRIVER_CALL = /\.query[(<]/;
const POOL_CALL = /\b(?:pool|client|connection)\.query[(<]/;
const PRISMA_CALL = /\$(?:(?:query|execute)Raw(?:Unsafe)?[`(<]|transaction\()/;

function hasRawStatement(file: string, text: string): boolean {
  const isTrpc = file.startsWith("app/") || file.startsWith("server/api/");
  return PRISMA_CALL.test(text) || (isTrpc ? POOL_CALL : DRIVER_CALL).test(text);
}

it("statements are defined with a name and a row schema (server/base/db/statement.ts)", () => {
  const found = sources()
    .filter((file) => !RAW_STATEMENTS.some((path) => file.startsWith(path)))
    .filter((file) => hasRawStatement(file, readFileSync(file, "utf8")));
  expect(found).toEqual([]);
});

it.each([
  ["server/auth/a.ts", "await services.pool\n  .query<Row>(text)", true],
  ["server/credits/a.ts", "db.$queryRaw`SELECT 1`", true],
  ["server/catalog/a.ts", "await tx.$executeRawUnsafe(text)", true],
  ["server/auth/b.ts", "db.$transaction(async (tx) => {})", true],
  ["server/api/a.ts", "services.pool.query(text)", true],
  ["server/api/dashboard/a.ts", "viewer.query(resolver(listKeys))", false],
])("of %s, %j is a raw statement: %j", (file, text, expected) => {
  expect(hasRawStatement(file, text)).toBe(expected);
});
