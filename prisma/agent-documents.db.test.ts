import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { expect, it } from "vitest";
import { migrate } from "@/server/base/db/migrate";
import { newId } from "@/server/base/ids";
import { readAgentSettings } from "@/server/work/agent/settings";
import { createTestDatabase } from "@/testing/database";

const MIGRATIONS = join(import.meta.dirname, "migrations");

it("the migration to agent documents keeps what the columns of each version held", async () => {
  const database = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const earlier = mkdtempSync(join(tmpdir(), "migrations-"));
  for (const name of readdirSync(MIGRATIONS)) {
    if (name < "20261125220000") cpSync(join(MIGRATIONS, name), join(earlier, name), { recursive: true });
  }
  await client.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
  // Today's functions name columns, values and types that the earlier migrations don't have yet.
  await migrate(client, earlier, { functions: [] });

  const [org, agent, first, second] = [newId(), newId(), newId(), newId()];
  await client.query(
    "INSERT INTO organizations (id, slug, name, created_at, updated_at) VALUES ($1, 'acme', 'Acme', now(), now())",
    [org],
  );
  await client.query(
    `INSERT INTO tools (id, organization_id, slug, name, created_at, updated_at, deleted_at)
     VALUES ($1, $3, 'first', 'First', now(), now(), NULL), ($2, $3, 'second', 'Second', now(), now(), now())`,
    [first, second, org],
  );
  await client.query(
    `INSERT INTO agents (id, organization_id, slug, name, version, created_at, updated_at)
     VALUES ($1, $2, 'helper', 'Helper', 2, now(), now())`,
    [agent, org],
  );
  const outputSchema = { type: "object", properties: { 'a"\u0000': { type: "string" } } };
  const policies = { second: { maxCalls: 1, onError: "fail" } };
  const systemPrompt = 'Say "hi".\n\tTake C:\\u0000 and ü 🙂.';
  await client.query(
    `INSERT INTO agent_versions (agent_id, number, model, system_prompt, max_steps, functions, tool_ids, settings,
       max_credits, deadline_seconds, created_by, created_at)
     VALUES ($1, 1, 'm', '', 8, '{}', '{}', '{}', NULL, 900, 'operator', now()),
            ($1, 2, 'gpt "x"', $2, 3, '{calculate,wait}', $3, $4, 1.5, 60, 'operator', now())`,
    [agent, systemPrompt, [second, first], JSON.stringify({ outputSchema, policies })],
  );

  const applied = await migrate(client, MIGRATIONS);
  expect(applied).toContain("20261125220000_agent_documents");
  const { rows } = await client.query(
    "SELECT definition, max_credits::text, deadline_seconds FROM agent_versions ORDER BY number",
  );
  expect(rows.map((row) => readAgentSettings(row))).toEqual([
    { model: "m", systemPrompt: "", maxSteps: 8, functions: [], tools: [], policies: {} },
    {
      model: 'gpt "x"',
      systemPrompt,
      maxSteps: 3,
      functions: ["calculate", "wait"],
      tools: ["second", "first"],
      outputSchema,
      policies,
    },
  ]);
  expect(rows[1]).toMatchObject({ max_credits: "1.5000", deadline_seconds: 60 });
  await client.end();
  await database.drop();
  rmSync(earlier, { recursive: true });
});
