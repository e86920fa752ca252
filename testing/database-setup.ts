import { join } from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { startThrowawayCluster } from "@/scripts/postgres/throwaway.mjs";
import { migrate } from "@/server/base/db/migrate";

const TEMPLATE = "stepwell_template";
/** The data may be lost in a crash. */
const SETTINGS = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  max_connections: "200",
};

declare module "vitest" {
  interface ProvidedContext {
    templateUrl: string;
  }
}

/**
 * Starts a throwaway PostgreSQL for the `db` tests, or uses TEST_DATABASE_URL, and migrates a template database once.
 * Every test file copies it.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_DATABASE_URL;
  const server =
    given === undefined ? await startThrowawayCluster(SETTINGS) : { url: given, stop: async () => {} };
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  await admin.query(`DROP DATABASE IF EXISTS ${TEMPLATE}`);
  await admin.query(`CREATE DATABASE ${TEMPLATE}`);
  await admin.end();

  const templateUrl = new URL(server.url);
  templateUrl.pathname = `/${TEMPLATE}`;
  const client = new pg.Client({ connectionString: templateUrl.href });
  await client.connect();
  await migrate(client, join(import.meta.dirname, "../prisma/migrations"));
  await client.end();
  project.provide("templateUrl", templateUrl.href);
  return server.stop;
}
