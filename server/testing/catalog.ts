import type pg from "pg";
import type { CatalogServices } from "@/server/catalog/change";
import { openDatabase } from "@/server/db/client";
import { type Environment, readEnvironment } from "@/server/env";
import { createVault } from "@/server/secrets/vault";
import { type TestClock, testClock } from "./clock";
import { createTestDatabase } from "./database";
import { type TestLogger, testLogger } from "./log";

/** What the catalog's verbs use, over a database of its own. */
export type TestCatalog = CatalogServices & {
  env: Environment;
  pool: pg.Pool;
  clock: TestClock;
  log: TestLogger;
  close(): Promise<void>;
};

/** Opens a test catalog; call it in `beforeAll`, `close` in `afterAll`. */
export async function openTestCatalog(): Promise<TestCatalog> {
  const database = await createTestDatabase();
  const env = readEnvironment({
    DATABASE_URL: database.url,
    STEPWELL_SECRET: "a secret for tests, of thirty-two characters",
    APP_URL: "https://stepwell.test/",
  });
  const log = testLogger();
  const { db, pool } = openDatabase(database.url, log, 10);
  return {
    env,
    db,
    pool,
    log,
    vault: createVault(env.secret),
    clock: testClock("2026-06-01T12:00:00.000Z"),
    async close() {
      await db.$disconnect();
      await pool.end().catch(() => {});
      await database.drop();
    },
  };
}
