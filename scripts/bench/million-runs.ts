import type { Client } from "pg";
import { z } from "zod";
import { FILL_INDEX } from "@/server/runs/read/run-index";

/**
 * Generates history for benchmarks inside PostgreSQL: one organization with a million runs over 90 days, and two small
 * ones. They have all statuses, sources and sizes of text, steps, model calls, deliveries, a ledger and an audit log.
 * Some combinations are awkward on purpose: see `Landmarks`.
 */

const SMALL_SHARE = 0.05;
const AGENTS = 12;
const TOOLS = 25;
const TRIGGERS = 20;
const KEYS = 12;
const USERS = 6;
const DAYS = 90;

/** The subjects of the measured queries. */
export type Landmarks = z.infer<typeof landmarks>;

const landmarks = z.object({
  orgId: z.string(),
  /** The agent with the most runs. None of them failed. */
  commonAgent: z.string(),
  /** The tool with the most runs. None of them was cancelled or started by a webhook. */
  commonTool: z.string(),
  /** A tool with a handful of runs. */
  rareTool: z.string(),
  trigger: z.string(),
  key: z.string(),
  user: z.string(),
  /** In one run. */
  uniqueWord: z.string(),
});
/** In nearly every run, in about 2 % of them, in about 0.02 %. */
export const WORDS = { common: "order", some: "marmalade", rare: "zanzibar" };

/** Fills a migrated, empty database. `print` gets the progress. */
export async function seedMillionRuns(
  client: Client,
  runs: number,
  print: (text: string) => void,
): Promise<void> {
  await client.query("SET session_replication_role = replica"); // No foreign keys, no triggers: the rows are valid.
  await client.query("SET work_mem = '256MB'; SET maintenance_work_mem = '1GB'; SELECT setseed(0.42)");
  const indexes = await dropIndexes(client);
  await client.query(FUNCTIONS);
  await loadTexts(client);
  const sizes = [runs, Math.round(runs * SMALL_SHARE), Math.round(runs * SMALL_SHARE)];
  for (const [index, size] of sizes.entries()) {
    print(`organization ${index + 1}: ${size} runs`);
    await seedOrganization(client, index, size);
  }
  print("run_index");
  await client.query(`${FILL_INDEX} WHERE r.finished_at IS NOT NULL ORDER BY r.id`);
  for (const definition of indexes) {
    print(definition.replace(/ USING.*/s, ""));
    await client.query(definition);
  }
  await client.query("SET session_replication_role = origin");
  print("vacuum and statistics");
  await client.query("VACUUM (FREEZE, ANALYZE)");
}

/** Filling is faster without indexes, except those of constraints. Returns the statements that create the others again. */
async function dropIndexes(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(`
    SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition
    FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
    WHERE relnamespace = 'public'::regnamespace AND relname IN ('runs', 'run_index', 'deliveries', 'credit_entries', 'audit_entries') AND NOT indisunique`);
  for (const { name } of rows) await client.query(`DROP INDEX ${name}`);
  return rows.map(({ definition }) => definition);
}

const FUNCTIONS = `
  CREATE FUNCTION pg_temp.v7(at timestamptz) RETURNS uuid LANGUAGE sql VOLATILE AS $$
    SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(md5(random()::text), 1, 3)
      || '8' || substr(md5(random()::text), 1, 15))::uuid $$;
  -- A stable id for the n-th thing of a kind of an organization.
  CREATE FUNCTION pg_temp.named(kind text, org int, n int) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT overlay(overlay(md5(kind || '/' || org || '/' || n) PLACING '7' FROM 13) PLACING '8' FROM 17)::uuid $$;
  -- One of \`count\`, the first ones far more often.
  CREATE FUNCTION pg_temp.pick(count int) RETURNS int LANGUAGE sql VOLATILE AS $$
    SELECT floor(power(random(), 2.5) * count)::int $$;`;

/** Words by Zipf's law, in paragraphs that runs share; each run adds its own numbers. */
async function loadTexts(client: Client): Promise<void> {
  const random = mulberry(42);
  const words = createWords(random);
  const pick = () => words[Math.floor(words.length ** random() - 1)] ?? "order";
  const paragraphs = Array.from({ length: 4_000 }, () =>
    Array.from({ length: 15 + Math.floor(random() * 60) }, pick).join(" "),
  );
  paragraphs[17] += ` ${WORDS.rare}`;
  for (let index = 0; index < 40; index += 1) paragraphs[index * 97 + 3] += ` ${WORDS.some}`;
  await client.query(
    "CREATE TEMP TABLE texts AS SELECT n - 1 AS n, text FROM unnest($1::text[]) WITH ORDINALITY AS each(text, n)",
    [paragraphs],
  );
  await client.query("ANALYZE texts");
}

function createWords(random: () => number): string[] {
  const syllables =
    "ka lo mi ne ru sa ti vo pe du fa gi ho ju be cor den fen lan mor ner pol qui ras tel".split(" ");
  const syllable = () => syllables[Math.floor(random() * syllables.length)] ?? "";
  const known = `${WORDS.common} customer the is a delivery refund to of status city in`.split(" ");
  const made = Array.from({ length: 6_000 }, () =>
    Array.from({ length: 2 + Math.floor(random() * 3) }, syllable).join(""),
  );
  return [...known, ...new Set(made)];
}

/** A deterministic generator of numbers in [0, 1). */
function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

async function seedOrganization(client: Client, org: number, runs: number): Promise<void> {
  for (const statement of definitionsOf(org)) await client.query(statement);
  await client.query(runsOf(org, runs));
  for (const statement of detailsOf(org)) await client.query(statement);
  await client.query("DROP TABLE made");
}

const named = (kind: string, org: number, n: string) => `pg_temp.named('${kind}', ${org}, ${n})`;

function definitionsOf(org: number): string[] {
  const id = named("org", org, "0");
  const many = (kind: string, count: number, rest: string) =>
    `INSERT INTO ${kind}s SELECT r.* FROM generate_series(0, ${count - 1}) n,
       jsonb_populate_record(NULL::${kind}s, jsonb_build_object(
         'id', ${named(kind, org, "n")}, 'organization_id', ${id}, 'slug', '${kind.replaceAll("_", "-")}-' || n,
         'name', initcap('${kind.replaceAll("_", " ")} ') || n, 'created_at', now(), 'updated_at', now(), 'version', 1
       ) || ${rest}) r`;
  return [
    `INSERT INTO organizations (id, slug, name, balance, created_at, updated_at)
     VALUES (${id}, 'org-${org}', 'Organization ${org}', 100000, now(), now())`,
    `INSERT INTO plans (organization_id, retention_days, concurrency, updated_at) VALUES (${id}, 3650, 100, now())`,
    many("agent", AGENTS, `'{"status":"active"}'`),
    many("tool", TOOLS, `'{"description":""}'`),
    `INSERT INTO agent_versions (agent_id, number, model, system_prompt, created_by, created_at)
     SELECT ${named("agent", org, "n")}, 1, 'gpt-5-mini', 'You help.', 'operator', now() FROM generate_series(0, ${AGENTS - 1}) n`,
    `INSERT INTO tool_versions (tool_id, number, definition, created_by, created_at)
     SELECT ${named("tool", org, "n")}, 1, '{"parameters":{},"steps":[],"output":1}', 'operator', now() FROM generate_series(0, ${TOOLS - 1}) n`,
    many(
      "trigger",
      TRIGGERS,
      `jsonb_build_object('token_hash', '\\x' || repeat(md5('${org}/' || n), 2), 'token_sealed', 'x',
         'agent_id', ${named("agent", org, `n % ${AGENTS}`)}, 'signature_scheme', 'hex', 'rate_limit_requests', 30, 'rate_limit_seconds', 60)`,
    ),
    many(
      "api_key",
      KEYS,
      `jsonb_build_object('prefix', 'sw_' || n, 'hash', '\\x' || repeat(md5('key/${org}/' || n), 2), 'created_by', 'operator',
         'scopes', '["runs:read"]'::jsonb, 'target_ids', '[]'::jsonb)`,
    ),
    `INSERT INTO users (id, name, email, created_at, updated_at)
     SELECT ${named("user", org, "n")}, 'Person ' || n, 'person-${org}-' || n || '@bench.test', now(), now()
     FROM generate_series(0, ${USERS - 1}) n`,
    `INSERT INTO members (id, organization_id, user_id, role, created_at)
     SELECT ${named("member", org, "n")}, ${id}, ${named("user", org, "n")}, 'owner', now() FROM generate_series(0, ${USERS - 1}) n`,
    `INSERT INTO configurations (organization_id, hash, document, created_at) VALUES (${id}, sha256('{}'), '{}', now())`,
  ];
}

/** The runs, in order of creation; `made` has what their details need. */
function runsOf(org: number, count: number): string {
  return `
    CREATE TEMP TABLE made AS
    WITH chosen AS MATERIALIZED (
      SELECT i, now() - make_interval(secs => (1 - i::float8 / ${count}) * ${DAYS * 86_400}) AS at,
        random() < 0.55 AS is_agent, random() AS luck, random() AS origin, random() AS size,
        pg_temp.pick(${AGENTS}) AS agent, pg_temp.pick(${TOOLS - 1}) AS tool, pg_temp.pick(${TRIGGERS}) AS trigger,
        pg_temp.pick(${KEYS}) AS key, pg_temp.pick(${USERS}) AS person,
        greatest(1, exp(random_normal(7, 1.5)))::int AS took, floor(random() * 4000)::int AS words,
        floor(random() * 4000)::int AS more_words
      FROM generate_series(1, ${count}) i
    ), settled AS (
      SELECT *, pg_temp.v7(at) AS id, CASE WHEN i % 25013 = 0 THEN ${TOOLS - 1} ELSE tool END AS tool_n,
        CASE WHEN i > ${count} - 30 THEN CASE WHEN i % 3 = 0 THEN 'Pending' ELSE 'Running' END
          WHEN luck < 0.03 AND (is_agent OR tool > 0) THEN 'Cancelled'
          WHEN luck < 0.12 AND NOT (is_agent AND agent = 0) THEN 'Failed' ELSE 'Completed' END AS status,
        CASE WHEN i % 10 = 0 THEN 'run' WHEN origin < 0.5 OR (NOT is_agent AND tool = 0) THEN 'api'
          WHEN origin < 0.88 THEN 'webhook' WHEN origin < 0.97 THEN 'dashboard' ELSE 'operator' END AS source
      FROM chosen
    )
    SELECT *, lag(id) OVER (ORDER BY i) AS before FROM settled;

    INSERT INTO runs (id, organization_id, kind, agent_id, tool_id, target_name, target_version, model, configuration_hash,
      status, source, trigger_id, api_key_id, user_id, parent_run_id, root_run_id, input, output, error_code, error_message,
      steps_executed, input_tokens, output_tokens, actions_used, credits_used, created_at, admitted_at, started_at,
      finished_at, deadline_seconds, cancelled_by, epoch, sequence)
    SELECT id, ${named("org", org, "0")}, (CASE WHEN is_agent THEN 'agent' ELSE 'tool' END)::run_kind,
      CASE WHEN is_agent THEN ${named("agent", org, "agent")} END, CASE WHEN NOT is_agent THEN ${named("tool", org, "tool_n")} END,
      CASE WHEN is_agent THEN 'Agent ' || agent ELSE 'Tool ' || tool_n END, 1, CASE WHEN is_agent THEN 'gpt-5-mini' END,
      sha256('{}'), status::run_status, source::run_source,
      CASE source WHEN 'webhook' THEN ${named("trigger", org, "trigger")} END,
      CASE source WHEN 'api' THEN ${named("api_key", org, "key")} END,
      CASE source WHEN 'dashboard' THEN ${named("user", org, "person")} END,
      CASE source WHEN 'run' THEN before END, CASE source WHEN 'run' THEN before ELSE id END,
      json_build_object('event', 'order.updated', 'reference', 'ref' || i, 'note', asked.text)::text,
      CASE WHEN status = 'Completed' THEN
        CASE WHEN size < 0.005 THEN repeat(answered.text || ' ', 80) ELSE answered.text END END,
      CASE WHEN status = 'Failed' THEN 'step_failed' END,
      CASE WHEN status = 'Failed' THEN 'The step fetch failed: ' || (ARRAY['connect ECONNREFUSED', 'timeout of 30 s', 'HTTP 503'])[1 + i % 3] || ' at shard' || i % 97 END,
      CASE WHEN is_agent THEN took % 7 ELSE 3 END, CASE WHEN is_agent THEN took % 4000 ELSE 0 END,
      CASE WHEN is_agent THEN took % 900 ELSE 0 END, took % 7,
      CASE WHEN i % 20011 = 0 THEN 50 + took % 50 ELSE round((took % 4000) * 0.0001, 4) END,
      at, CASE WHEN status <> 'Pending' THEN at END, CASE WHEN status <> 'Pending' THEN at + interval '20 ms' END,
      CASE WHEN status NOT IN ('Pending', 'Running') THEN at + interval '20 ms' + make_interval(secs => took / 1000.0) END,
      900, CASE WHEN status = 'Cancelled' THEN 'Person 0' END, 1, 9
    FROM made JOIN texts asked ON asked.n = words JOIN texts answered ON answered.n = more_words ORDER BY i`;
}

function detailsOf(org: number): string[] {
  const id = named("org", org, "0");
  return [
    `INSERT INTO steps (id, organization_id, run_id, key, step_number, iteration_number, tool_name, status, input, output,
       reasoning, attempts, started_at, finished_at, duration_ms, sequence)
     SELECT pg_temp.v7(at), ${id}, id, 'call-' || step, step, step, 'http_request', 'Completed', '{"url":"https://shop.test/"}',
       text, 'I need it.', '[]', at, at, took / 5, step
     FROM generate_series(1, 4) step, (SELECT * FROM made ORDER BY i DESC LIMIT 50000) made JOIN texts ON n = more_words`,
    `INSERT INTO model_calls (id, organization_id, run_id, key, iteration_number, provider, model, status, content,
       started_at, finished_at, duration_ms, sequence)
     SELECT pg_temp.v7(at), ${id}, id, 'think-' || step, step, 'openai', 'gpt-5-mini', 'Completed', text, at, at, took / 5, step
     FROM generate_series(1, 2) step, (SELECT * FROM made ORDER BY i DESC LIMIT 50000) made JOIN texts ON n = words`,
    `INSERT INTO credit_entries (organization_id, sequence, kind, amount, balance_before, balance_after, run_id, actor, created_at)
     SELECT ${id}, (i - 1) * 3 + n, (ARRAY['hold', 'release', 'charge'])[n]::credit_entry_kind, (ARRAY[-0.5, 0.5, -0.01])[n],
       1000, 1000 + (ARRAY[-0.5, 0.5, -0.01])[n], id, 'run', at
     FROM made, generate_series(1, 3) n ORDER BY i, n`,
    `INSERT INTO credit_entries (organization_id, sequence, kind, amount, balance_before, balance_after, actor, created_at)
     SELECT ${id}, (SELECT max(i) FROM made) * 3 + 1, 'grant', 1, 1000, 1001, 'operator', now()`,
    `INSERT INTO deliveries (id, organization_id, trigger_id, received_at, outcome, status, headers, body, body_bytes, run_id)
     SELECT pg_temp.v7(at), ${id}, ${named("trigger", org, "trigger")}, at, 'accepted', 200, '{}', '{"event":1}', 11, id
     FROM made WHERE source = 'webhook'`,
    `INSERT INTO deliveries (id, organization_id, trigger_id, received_at, outcome, status, code, reason, headers, body, body_bytes)
     SELECT pg_temp.v7(at), ${id}, ${named("trigger", org, "trigger")}, at, 'rejected', 401, 'invalid_signature', 'The signature is wrong.', '{}', '{"event":1}', 11
     FROM made WHERE i % 400 = 7 AND trigger > 0`,
    `INSERT INTO audit_entries (id, organization_id, actor, actor_name, action, subject_kind, subject_name, created_at)
     SELECT pg_temp.v7(at), ${id}, 'operator', 'Operator', 'agent.updated', 'agent', 'Agent 0', at FROM made WHERE i % 10 = 3`,
  ];
}

/** Finds the subjects of the queries in a seeded database. */
export async function findLandmarks(client: Client): Promise<Landmarks> {
  const idOf = (table: string, name: string) =>
    `(SELECT id FROM ${table} WHERE organization_id = o.id AND name = '${name}')`;
  const { rows } = await client.query(
    `SELECT id AS "orgId", ${idOf("agents", "Agent 0")} AS "commonAgent", ${idOf("tools", "Tool 0")} AS "commonTool",
       ${idOf("tools", `Tool ${TOOLS - 1}`)} AS "rareTool", ${idOf("triggers", "Trigger 3")} AS trigger,
       ${idOf("api_keys", "Api Key 3")} AS key, (SELECT id FROM users WHERE email = 'person-0-0@bench.test') AS user,
       (SELECT substring(input FROM 'ref[0-9]+') FROM runs WHERE organization_id = o.id ORDER BY id OFFSET 1000 LIMIT 1) AS "uniqueWord"
     FROM organizations o WHERE slug = 'org-0'`,
  );
  return landmarks.parse(rows[0]);
}
