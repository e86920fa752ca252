import { defineConfig } from "vitest/config";

/**
 * Two projects: `unit` (pure, `*.test.ts`) and `db` (`*.db.test.ts`, each file on its own copy of a migrated template
 * database, see testing/database.ts).
 */
const FOLDERS = "{server,inngest,scripts,tools,app,prisma,examples,testing,serve,client,client-python}";

export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    // More than the two cores of CI: most tests of the database wait for it, some for a time limit.
    maxWorkers: 3,
    // Only `npm run test:long` runs those that take long.
    tags: [
      { name: "long", description: "Takes long; a shorter test covers the same kind." },
      { name: "once", description: "Does not depend on Node's version: CI runs it on one." },
    ],
    // Files share their worker's modules: loading them for each file took longer than the tests.
    isolate: false,
    // Generous: on a busy machine, an awaited event may come late.
    testTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: [`${FOLDERS}/**/*.test.ts`],
          exclude: ["**/*.db.test.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "db",
          globalSetup: ["testing/database-setup.ts"],
          include: [`${FOLDERS}/**/*.db.test.ts`],
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
