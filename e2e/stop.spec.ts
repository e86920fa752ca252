import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { freePort, isFree } from "../scripts/ports.mjs";
import { runningCluster } from "../scripts/postgres/postgres-cluster.mjs";
import { createThrowaway, removeThrowaway } from "../scripts/throwaway.mjs";

let dataDir: string;
test.beforeEach(async () => {
  dataDir = await createThrowaway();
});
test.afterEach(() => removeThrowaway(dataDir));

/** Starts the service through npm in its own process group; resolves once it is ready. */
async function startThroughNpm(port: number) {
  const npm = spawn("npm", ["start"], {
    detached: true,
    env: { ...process.env, PORT: String(port), STEPWELL_DATA_DIR: dataDir, APP_URL: "" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let output = "";
  for await (const chunk of npm.stdout.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    if (output.includes("Stepwell is ready")) break;
  }
  npm.stdout.resume();
  expect(output).toContain("Stepwell is ready");
  return { npm, group: -(npm.pid ?? 0) };
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(`${signal} to npm ends the service and its database, and frees the port`, async () => {
    test.setTimeout(200_000);
    const port = await freePort();
    const { npm, group } = await startThroughNpm(port);
    expect(await isFree(port)).toBe(false);

    npm.kill(signal);
    await once(npm, "exit");
    expect(() => process.kill(group, 0), "no process of npm's group is left").toThrow("ESRCH");
    expect(await isFree(port)).toBe(true);
    expect(runningCluster(join(dataDir, "postgres"))).toBeUndefined();
  });
}
