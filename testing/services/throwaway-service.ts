import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect } from "@playwright/test";
import pg from "pg";
import { joinPostgres } from "@/scripts/postgres/postgres.mjs";
import { runningCluster } from "@/scripts/postgres/postgres-cluster.mjs";
import { createThrowaway, removeThrowaway } from "@/scripts/postgres/throwaway.mjs";
import { freePort, isFree } from "@/scripts/support/ports.mjs";
import { ROOT } from "@/scripts/support/project.mjs";

export type ThrowawayService = Awaited<ReturnType<typeof startThrowawayService>>;

/**
 * Starts the built service with `npm start`, for tests that change its database or model. It has the demo
 * organization and one run, unless `env` sets STEPWELL_DEMO. `quiet` hides standard error.
 */
export async function startThrowawayService({ quiet = false, env = {} as Record<string, string> } = {}) {
  const dataDir = await createThrowaway();
  const port = await freePort();
  const base = `http://localhost:${port}`;
  const npm = spawn("npm", ["start"], {
    cwd: ROOT,
    // In a process group of its own, so that a process that stays behind is found.
    detached: true,
    env: {
      ...process.env,
      PORT: String(port),
      APP_URL: base,
      STEPWELL_DATA_DIR: dataDir,
      LOG_LEVEL: "error",
      ...env,
    },
    stdio: ["ignore", "pipe", quiet ? "ignore" : "inherit"],
  });
  const isRunning = () => npm.exitCode === null && npm.signalCode === null;
  let text = "";
  const output = await new Promise<string>((resolve, reject) => {
    npm.stdout.on("data", (chunk) => {
      text += chunk;
      if (text.includes("Stop with Ctrl-C")) resolve(text);
    });
    npm.on("exit", () => reject(new Error(`The service ended:\n${text}`)));
  });
  const key = /sw_live_\w+/.exec(output)?.[0] ?? "";
  const agent = /agents\/run\/([0-9a-f-]+)/.exec(output)?.[1] ?? "";
  if (agent !== "") {
    await fetch(`${base}/v1/agents/run/${agent}`, {
      method: "POST",
      headers: { "X-API-Key": key, "Content-Type": "application/json" },
      body: '{"userMessage":"What do 12 apples at 0.80 cost?"}',
    });
  }

  return {
    base,
    output,
    printed: () => text,
    key,
    agent,
    login: { email: "demo@stepwell.test", password: /password {2}(\S+)/.exec(output)?.[1] ?? "" },

    async withDatabase<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
      const { url, leave } = await joinPostgres(dataDir);
      const client = new pg.Client({ connectionString: url, application_name: "stepwell e2e" });
      await client.connect();
      try {
        return await work(client);
      } finally {
        await client.end();
        await leave();
      }
    },

    async expectToEnd(signal: "SIGINT" | "SIGTERM"): Promise<void> {
      expect(await isFree(port)).toBe(false);
      const exited = once(npm, "exit");
      npm.kill(signal);
      await exited;
      expect(() => process.kill(-(npm.pid ?? 0), 0), "no process of npm's group is left").toThrow("ESRCH");
      expect(await isFree(port)).toBe(true);
      expect(runningCluster(join(dataDir, "postgres"))).toBeUndefined();
    },

    async remove(): Promise<void> {
      if (isRunning()) {
        const exited = once(npm, "exit");
        npm.kill("SIGINT");
        await exited;
      }
      await removeThrowaway(dataDir);
    },
  };
}
