import { defineConfig } from "vitest/config";

/**
 * Three projects: `unit` (pure, `*.test.ts`); `db` (`*.db.test.ts`, each worker on its own copy of a migrated template
 * database, see testing/database.ts); `routes`, the same for files that replace the services of `wiring.ts`.
 */
const DB_TESTS = ["{server,inngest,scripts,app,prisma,examples,testing}/**/*.db.test.ts", "*.db.test.ts"];
const ROUTE_TESTS = ["app/api/**/*.db.test.ts", "serve-requests.db.test.ts"];
const DB = {
  globalSetup: ["testing/database-setup.ts"],
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    // More than the two cores of CI: most tests of the database wait for it, some for a time limit.
    maxWorkers: 3,
    // Files share their worker's modules: loading them for each file took longer than the tests.
    isolate: false,
    // On a busy machine, what is waited for may come late.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["{server,inngest,scripts,app,prisma,examples,testing}/**/*.test.ts", "*.test.ts"],
          exclude: ["**/*.db.test.ts", "**/node_modules/**"],
          // Generous: some tests wait for a time limit of 1 s on busy machines.
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          ...DB,
          name: "db",
          include: DB_TESTS,
          exclude: [...ROUTE_TESTS, "**/node_modules/**"],
        },
      },
      {
        extends: true,
        test: {
          ...DB,
          name: "routes",
          include: ROUTE_TESTS,
          // What they replace must not affect the next file.
          isolate: true,
        },
      },
    ],
  },
});
