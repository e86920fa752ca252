import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { insertRun } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";

const ROOT = join(import.meta.dirname, "../..");

test("a command that ended a run lets its process end, and leaves no worker", async () => {
  const world = await openWorld();
  const tenant = await createTenant(world);
  const run = await insertRun(world, tenant, { status: "Pending" });
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["scripts/run-typescript.mjs", "scripts/cli/main.ts", "runs", "cancel", run],
    {
      cwd: ROOT,
      env: {
        ...process.env,
        DATABASE_URL: world.env.databaseUrl,
        STEPWELL_SECRET: "test-secret-test-secret-test-secret",
        APP_URL: "http://stepwell.test",
      },
      timeout: 40_000,
    },
  );
  expect(stdout).toBe("The run is Cancelled.\n");
  expect((await world.pool.query("SELECT FROM workers")).rowCount).toBe(0);
});
