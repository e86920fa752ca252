import type { Client } from "pg";
import { z } from "zod";
import { withFunctionNames } from "@/server/base/db/functions";
import { applyDefinitionFile } from "@/server/catalog/definition-file/apply";
import { FILL_INDEX } from "@/server/runs/read/find/run-index";
import type { Services } from "@/server/services";

/**
 * Creates history inside PostgreSQL: an organization with a million runs over 90 days, and two small ones. Some
 * combinations are awkward on purpose: see `Landmarks`.
 */

const ORGANIZATION = "bench";
const AGENTS = 12;
const TOOLS = 25;
const TRIGGERS = 20;
const KEYS = 12;
const USERS = 3;

export type Landmarks = z.infer<typeof landmarks>;

const landmarks = z.object({
  orgId: z.string(),
  /** Has the most runs. None of them failed. */
  commonAgent: z.string(),
  /** Has the most runs. None of them was cancelled or started by a webhook. */
  commonTool: z.string(),
  rareTool: z.string(),
  trigger: z.string(),
  key: z.string(),
  user: z.string(),
  uniqueWord: z.string(),
});
/** In nearly every run, in about 2 % of them, in about 0.02 %. */
export const WORDS = { common: "order", some: "marmalade", rare: "zanzibar" };

/** Fills a migrated, empty database over a connection of its own. `print` gets the progress. */
export async function seedMillionRuns(
  services: Services,
  client: Client,
  { runs, print }: { runs: number; print: (text: string) => void },
): Promise<void> {
  print("definitions");
  const organizations = [ORGANIZATION, "second", "third"].map(definitionOf);
  await applyDefinitionFile(services, JSON.stringify({ organizations }));
  await client.query("SET session_replication_role = replica"); // No foreign keys, no triggers: the rows are valid.
  await client.query("SET work_mem = '256MB'; SET maintenance_work_mem = '1GB'; SELECT setseed(0.42)");
  const indexes = await dropIndexes(client);
  await client.query(FUNCTIONS);
  const create = async (statements: Record<string, string>) => {
    for (const [what, statement] of Object.entries(statements)) {
      print(what);
      await client.query(withFunctionNames(statement));
    }
  };
  const createIndexes = async (definitions: string[]) => {
    for (const definition of definitions) {
      print(definition.replace(/ USING.*/s, ""));
      await client.query(definition);
    }
  };
  await create({ ...TEXTS, made: madeOf(runs), ...ROWS });
  const isOfRunIndex = (definition: string) => definition.includes(" ON public.run_index ");
  // The table run_index is filled with the child runs of each run, found by an index of `runs`.
  await createIndexes(indexes.filter((definition) => !isOfRunIndex(definition)));
  await create({ run_index: `${FILL_INDEX} WHERE r.finished_at IS NOT NULL ORDER BY r.id` });
  await createIndexes(indexes.filter(isOfRunIndex));
  await client.query("SET session_replication_role = origin");
  print("vacuum and statistics");
  await client.query("VACUUM (FREEZE, ANALYZE)");
}

function definitionOf(slug: string) {
  const many = <Item>(count: number, item: (n: number) => Item) =>
    Array.from({ length: count }, (_, n) => item(n));
  const steps = [{ id: "one", uses: "wait", with: { seconds: 1 } }];
  const rateLimit = { requests: 30, seconds: 60 };
  return {
    slug,
    plan: { retentionDays: 3650, concurrency: 100 },
    credits: 100_000,
    members: many(USERS, (n) => ({
      email: `person-${n}@${slug}.test`,
      name: `Person ${n}`,
      password: "correct horse",
      role: "owner",
    })),
    apiKeys: many(KEYS, (n) => ({ name: `key-${n}` })),
    agents: many(AGENTS, (n) => ({ slug: `agent-${n}`, name: `Agent ${n}`, model: "gpt-5-mini" })),
    tools: many(TOOLS, (n) => ({ slug: `tool-${n}`, name: `Tool ${n}`, steps })),
    triggers: many(TRIGGERS, (n) => ({ slug: `trigger-${n}`, agent: `agent-${n % AGENTS}`, rateLimit })),
  };
}

/** Filling is faster without indexes. Returns the statements that create them again. */
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
  -- One of \`count\`, from 1. The first ones come far more often.
  CREATE FUNCTION pg_temp.pick(count int) RETURNS int LANGUAGE sql VOLATILE AS $$
    SELECT 1 + floor(power(random(), 2.5) * count)::int $$;`;

/** Words by Zipf's law. Runs share 4,000 paragraphs and add their own numbers. */
const TEXTS = {
  words: `
    CREATE TEMP TABLE words AS
    WITH syllables AS (SELECT regexp_split_to_table('ka lo mi ne ru sa ti vo pe du fa gi ho ju be cor den fen lan', ' ') AS text),
    made AS (SELECT a.text || b.text || c.text AS word FROM syllables a, syllables b, syllables c ORDER BY random())
    SELECT row_number() OVER () AS rank, word FROM (
      SELECT regexp_split_to_table('${WORDS.common} customer the is a delivery refund to of status city in', ' ') AS word
      UNION ALL SELECT word FROM made) words`,
  texts: `
    CREATE TEMP TABLE texts AS
    WITH picks AS MATERIALIZED (
      SELECT n, floor(power((SELECT count(*) FROM words), random())) AS rank
      FROM generate_series(1, 4000) n, LATERAL generate_series(1, 15 + n % 60))
    SELECT n, string_agg(word, ' ')
      || CASE WHEN n = 17 THEN ' ${WORDS.rare}' WHEN n % 100 = 3 THEN ' ${WORDS.some}' ELSE '' END AS text
    FROM picks JOIN words USING (rank) GROUP BY n;
    ANALYZE texts`,
};

function madeOf(runs: number): string {
  const ids = (table: string, key = "slug") =>
    `ARRAY(SELECT id FROM ${table} WHERE organization_id = o.id ORDER BY length(${key}), ${key}) AS ${table}`;
  return `
    CREATE TEMP TABLE made AS
    WITH organization AS (
      SELECT o.id AS org, CASE slug WHEN '${ORGANIZATION}' THEN ${runs} ELSE ${Math.round(runs / 20)} END AS count,
        ${ids("agents")}, ${ids("tools")}, ${ids("triggers")}, ${ids("api_keys", "name")},
        ARRAY(SELECT user_id FROM members WHERE organization_id = o.id ORDER BY user_id) AS users
      FROM organizations o
    ), chosen AS MATERIALIZED (
      SELECT org, i, now() - make_interval(days => 90) * (1 - i::float8 / count) AS at, i > count - 30 AS is_open,
        random() < 0.55 AS is_agent, random() AS luck, random() AS origin, random() AS size,
        pg_temp.pick(${AGENTS}) AS agent, CASE WHEN i % 25013 = 0 THEN ${TOOLS} ELSE pg_temp.pick(${TOOLS - 1}) END AS tool,
        pg_temp.pick(${TRIGGERS}) AS trigger, pg_temp.pick(${KEYS}) AS key, pg_temp.pick(${USERS}) AS person,
        greatest(1, exp(random_normal(7, 1.5)))::int AS took, ceil(random() * 4000)::int AS words,
        ceil(random() * 4000)::int AS more_words
      FROM organization, LATERAL generate_series(1, count) i
    )
    SELECT chosen.*, agents[agent] AS agent_id, tools[tool] AS tool_id, triggers[trigger] AS trigger_id,
      api_keys[key] AS key_id, users[person] AS user_id, pg_temp.v7(at) AS id,
      CASE WHEN is_open THEN CASE WHEN i % 3 = 0 THEN 'Pending' ELSE 'Running' END
        WHEN luck < 0.03 AND (is_agent OR tool > 1) THEN 'Cancelled'
        WHEN luck < 0.12 AND NOT (is_agent AND agent = 1) THEN 'Failed' ELSE 'Completed' END AS status,
      CASE WHEN i % 10 = 0 THEN 'run' WHEN origin < 0.5 OR (NOT is_agent AND tool = 1) THEN 'api'
        WHEN origin < 0.88 THEN 'webhook' WHEN origin < 0.97 THEN 'dashboard' ELSE 'operator' END AS source
    FROM chosen JOIN organization USING (org) ORDER BY org, i`;
}

const LAST = "(SELECT * FROM made ORDER BY i DESC LIMIT 50000) made";

const ROWS = {
  configurations: `
    INSERT INTO configurations (organization_id, hash, document, created_at)
    SELECT id, sha256('{}'), '{}', now() FROM organizations`,
  runs: `
    INSERT INTO runs (id, organization_id, kind, agent_id, tool_id, target_name, target_version, model, configuration_hash,
      status, source, trigger_id, api_key_id, user_id, parent_run_id, root_run_id, input, output, error_code, error_message,
      steps_executed, input_tokens, output_tokens, actions_used, credits_used, created_at, admitted_at, started_at,
      finished_at, deadline_seconds, cancelled_by, epoch, sequence)
    SELECT id, org, (CASE WHEN is_agent THEN 'agent' ELSE 'tool' END)::run_kind,
      CASE WHEN is_agent THEN agent_id END, CASE WHEN NOT is_agent THEN tool_id END,
      CASE WHEN is_agent THEN 'Agent ' || agent ELSE 'Tool ' || tool END, 1, CASE WHEN is_agent THEN 'gpt-5-mini' END,
      sha256('{}'), status::run_status, source::run_source, CASE source WHEN 'webhook' THEN trigger_id END,
      CASE source WHEN 'api' THEN key_id END, CASE source WHEN 'dashboard' THEN user_id END,
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
      CASE WHEN NOT is_open THEN at + interval '20 ms' + make_interval(secs => took / 1000.0) END,
      900, CASE WHEN status = 'Cancelled' THEN 'Person 0' END, 1, 9
    FROM (SELECT *, lag(id) OVER (PARTITION BY org ORDER BY i) AS before FROM made) made
      JOIN texts asked ON asked.n = words JOIN texts answered ON answered.n = more_words ORDER BY org, i`,
  steps: `
    INSERT INTO steps (id, organization_id, run_id, key, step_number, iteration_number, tool_name, status, input, output,
      started_at, finished_at, duration_ms, sequence)
    SELECT pg_temp.v7(at), org, id, 'call-' || step, step, step, 'http_request', 'Completed', '{"url":"https://shop.test/"}',
      text, at, at, took / 5, step
    FROM generate_series(1, 4) step, ${LAST} JOIN texts ON n = more_words`,
  model_calls: `
    INSERT INTO model_calls (id, organization_id, run_id, key, iteration_number, provider, model, status, content,
      started_at, finished_at, duration_ms, sequence)
    SELECT pg_temp.v7(at), org, id, 'think-' || step, step, 'openai', 'gpt-5-mini', 'Completed', text, at, at, took / 5, step
    FROM generate_series(1, 2) step, ${LAST} JOIN texts ON n = words`,
  // After the grant, which is the first entry.
  credit_entries: `
    INSERT INTO credit_entries (organization_id, sequence, kind, amount, balance_before, balance_after, run_id, actor, created_at)
    SELECT org, (i - 1) * 3 + n + 1, (ARRAY['hold', 'release', 'charge'])[n]::credit_entry_kind, (ARRAY[-0.5, 0.5, -0.01])[n],
      1000, 1000 + (ARRAY[-0.5, 0.5, -0.01])[n], id, 'run', at
    FROM made, generate_series(1, 3) n ORDER BY org, i, n`,
  organizations: `
    UPDATE organizations o SET
      ledger_sequence = (SELECT max(sequence) FROM credit_entries WHERE organization_id = o.id),
      in_flight = (SELECT count(*) FROM runs
        WHERE organization_id = o.id AND parent_run_id IS NULL AND status = 'Running' AND admitted_at IS NOT NULL)`,
  deliveries: `
    INSERT INTO deliveries (id, organization_id, trigger_id, received_at, headers, body, body_bytes, outcome, status, run_id, code, reason)
    SELECT pg_temp.v7(at), org, trigger_id, at, '{}', '{"event":1}', 11, result.*
    FROM made, LATERAL (
      SELECT 'accepted'::delivery_outcome, 200, id, NULL, NULL WHERE source = 'webhook' UNION ALL
      SELECT 'rejected', 401, NULL, 'invalid_signature', 'The signature is wrong.' WHERE i % 400 = 7 AND trigger > 1) result`,
  audit_entries: `
    INSERT INTO audit_entries (id, organization_id, actor, actor_name, action, subject_kind, subject_name, created_at)
    SELECT pg_temp.v7(at), org, 'operator', 'Operator', 'agent.updated', 'agent', 'Agent 0', at FROM made WHERE i % 10 = 3`,
};

/** Finds the subjects of the queries in a seeded database. */
export async function findLandmarks(client: Client): Promise<Landmarks> {
  const idOf = (table: string, name: string) =>
    `(SELECT id FROM ${table} WHERE organization_id = o.id AND name = '${name}')`;
  const { rows } = await client.query(
    `SELECT id AS "orgId", ${idOf("agents", "Agent 0")} AS "commonAgent", ${idOf("tools", "Tool 0")} AS "commonTool",
       ${idOf("tools", `Tool ${TOOLS - 1}`)} AS "rareTool", ${idOf("triggers", "trigger-3")} AS trigger,
       ${idOf("api_keys", "key-3")} AS key, (SELECT min(user_id::text) FROM members WHERE organization_id = o.id) AS user,
       (SELECT substring(input FROM 'ref[0-9]+') FROM runs WHERE organization_id = o.id ORDER BY id OFFSET 500 LIMIT 1) AS "uniqueWord"
     FROM organizations o WHERE slug = '${ORGANIZATION}'`,
  );
  return landmarks.parse(rows[0]);
}
