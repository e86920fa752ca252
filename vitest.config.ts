import { defineConfig } from "vitest/config";

/**
 * Two projects: `unit` (pure, `*.test.ts`) and `db` (`*.db.test.ts`, each worker on its own copy of a
 * migrated template database, see testing/database.ts).
 */
export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    maxWorkers: 2,
    // Files share their worker's modules: loading them anew for each file took longer than the tests.
    isolate: false,
    // Machines may be busy: what is waited for comes late, and is still waited for.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["{server,inngest,scripts,app,prisma,examples,testing}/**/*.test.ts", "*.test.ts"],
          exclude: ["**/*.db.test.ts", "**/node_modules/**"],
          // Generous: some tests wait for a time limit of 1 s, and machines may be busy.
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: "db",
          include: ["{server,inngest,scripts,app,prisma,examples,testing}/**/*.db.test.ts", "*.db.test.ts"],
          globalSetup: ["testing/database-setup.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
