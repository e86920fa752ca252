import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { expect, it } from "vitest";
import { migrate } from "@/server/base/db/migrate";
import { newId } from "@/server/base/ids";
import { storedSignature } from "@/server/catalog/webhooks/senders/signature-definition";
import { createTestDatabase } from "@/testing/database";

const MIGRATIONS = join(import.meta.dirname, "migrations");
const SENDERS = "20261126115100_senders";

it("the migration to senders keeps the signature of each trigger", async () => {
  const database = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const earlier = mkdtempSync(join(tmpdir(), "migrations-"));
  for (const name of readdirSync(MIGRATIONS)) {
    if (name < SENDERS) cpSync(join(MIGRATIONS, name), join(earlier, name), { recursive: true });
  }
  await client.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
  // Today's functions name columns, values and types that the earlier migrations don't have yet.
  await migrate(client, earlier, { functions: [] });

  const [org, agent] = [newId(), newId()];
  await client.query(
    "INSERT INTO organizations (id, slug, name, created_at, updated_at) VALUES ($1, 'acme', 'Acme', now(), now())",
    [org],
  );
  await client.query(
    `INSERT INTO agents (id, organization_id, slug, name, version, created_at, updated_at)
     VALUES ($1, $2, 'helper', 'Helper', 1, now(), now())`,
    [agent, org],
  );
  await client.query(
    `INSERT INTO triggers (id, organization_id, slug, name, token_hash, token_sealed, agent_id, signature_scheme,
       created_at, updated_at)
     SELECT gen_random_uuid(), $1, replace(scheme::text, '_', '-'), 'Hook', sha256(scheme::text::bytea), 'sealed', $2, scheme, now(), now()
     FROM unnest(enum_range(NULL::signature_scheme)) AS scheme`,
    [org, agent],
  );

  expect(await migrate(client, MIGRATIONS)).toContain(SENDERS);
  const { rows } = await client.query("SELECT slug, signature, filter FROM triggers ORDER BY slug");
  const kept = rows.map(({ slug, signature, filter }) => [slug, storedSignature.parse(signature), filter]);
  expect(kept).toEqual([
    ["hex", "hex", null],
    ["standard-webhooks", "standard-webhooks", null],
  ]);
  await client.end();
  rmSync(earlier, { recursive: true });
  await database.drop();
});
