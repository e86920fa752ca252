import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { insertRun } from "@/testing/runs";
import { createTenant, openWorld, type World } from "@/testing/world";

const ROOT = join(import.meta.dirname, "../..");

const start = (world: World, ...words: string[]) =>
  promisify(execFile)(process.execPath, ["scripts/run-typescript.mjs", "scripts/cli/main.ts", ...words], {
    cwd: ROOT,
    env: {
      ...process.env,
      DATABASE_URL: world.env.databaseUrl,
      STEPWELL_SECRET: "test-secret-test-secret-test-secret",
      APP_URL: "http://stepwell.test",
    },
    timeout: 40_000,
  });

test("a command that ended a run lets its process end, and leaves no worker", async () => {
  const world = await openWorld();
  const tenant = await createTenant(world);
  const run = await insertRun(world, tenant, { status: "Pending" });
  const { stdout } = await start(world, "runs", "cancel", run);
  expect(stdout).toBe("The run is Cancelled.\n");
  expect((await world.pool.query("SELECT FROM workers")).rowCount).toBe(0);
});

test("a file from standard input may come through a socket, as of ssh", async () => {
  const world = await openWorld();
  const { slug } = await createTenant(world);
  // Node connects a child by sockets.
  const applying = start(world, "apply", "-");
  applying.child.stdin?.end(`organizations: [{ slug: ${slug}, name: Café }]\n`);
  expect((await applying).stdout).toBe(`${slug}\n  updated    the organization\n`);
});
