import { execFile } from "node:child_process";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { newId } from "@/server/base/ids";
import { insertRun } from "@/testing/runs";
import { openScriptedServer } from "@/testing/servers/scripted-server";
import { createTenant, openWorld, type World } from "@/testing/world";

const ROOT = join(import.meta.dirname, "../..");

const start = (world: World | null, ...words: string[]) =>
  promisify(execFile)(process.execPath, ["scripts/run-typescript.mjs", "scripts/cli/main.ts", ...words], {
    cwd: ROOT,
    env: {
      ...process.env,
      DATABASE_URL: world?.env.databaseUrl,
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

test("the events of a run end when nobody reads them any more", async () => {
  const event = (id: number) => `id: ${id}\nevent: step.started\ndata: {}\n\n`;
  let stream: ServerResponse | undefined;
  const server = await openScriptedServer((response) => {
    stream = response.writeHead(200, { "content-type": "text/event-stream" });
    stream.write(event(1));
  });
  const options = ["--url", server.url, "--key", "k-1"];
  const following = start(null, "api", "follow", "tool", newId(), ...options);
  const { stdout } = following.child;
  if (stdout === null) throw new Error("It has no output.");
  await once(stdout, "data");
  stdout.destroy();
  stream?.write(event(2));
  expect(await following).toMatchObject({ stderr: "" });
  await server.close();
});

test("a file from standard input may come through a socket, as of ssh", async () => {
  const world = await openWorld();
  const { slug } = await createTenant(world);
  // Node connects a child by sockets.
  const applying = start(world, "apply", "-");
  applying.child.stdin?.end(`organizations: [{ slug: ${slug}, name: Café }]\n`);
  expect((await applying).stdout).toBe(`${slug}\n  updated    the organization\n`);
});
