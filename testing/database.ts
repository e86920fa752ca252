import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";

/** A test file's own database, a copy of the migrated template. */
export type TestDatabase = { url: string; drop(): Promise<void> };

/** Copies the template. Call it in `beforeAll`, `drop` in `afterAll`. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const template = new URL(inject("templateUrl"));
  const name = `test_${randomBytes(6).toString("hex")}`;
  const templateName = template.pathname.slice(1);
  const adminUrl = new URL(template);
  adminUrl.pathname = "/postgres";
  await asAdmin(adminUrl, `CREATE DATABASE ${name} TEMPLATE ${templateName}`);
  const url = new URL(template);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => asAdmin(adminUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function asAdmin(url: URL, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
