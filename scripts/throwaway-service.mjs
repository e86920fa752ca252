import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import pg from "pg";
import { freePort } from "./ports.mjs";
import { joinPostgres } from "./postgres/postgres.mjs";
import { ROOT } from "./project.mjs";
import { createThrowaway, removeThrowaway } from "./throwaway.mjs";

/**
 * Starts the built service like `npm start`, on a throwaway data folder with the demo organization and one run of its
 * agent, for browser tests that change its database or its model.
 * @param {{ quiet?: boolean, env?: Record<string, string> }} [options] quiet: hides standard error, whose content is
 * expected; env: more settings
 */
export async function startThrowawayService({ quiet = false, env = {} } = {}) {
  const dataDir = await createThrowaway();
  const port = await freePort();
  const base = `http://localhost:${port}`;
  const service = spawn(process.execPath, [join(ROOT, "scripts/start.mjs")], {
    cwd: ROOT,
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
  /** @type {string} */
  const output = await new Promise((resolve, reject) => {
    let text = "";
    service.stdout.on("data", (chunk) => {
      text += chunk;
      if (text.includes("Stop with Ctrl-C")) resolve(text);
    });
    service.on("exit", () => reject(new Error(`The service ended:\n${text}`)));
  });
  const key = /sw_live_\w+/.exec(output)?.[0] ?? "";
  const agent = /agents\/run\/([0-9a-f-]+)/.exec(output)?.[1] ?? "";
  await fetch(`${base}/v1/agents/run/${agent}`, {
    method: "POST",
    headers: { "X-API-Key": key, "Content-Type": "application/json" },
    body: '{"userMessage":"What do 12 apples at 0.80 cost?"}',
  });

  return {
    base,
    pid: service.pid ?? 0,
    key,
    agent,
    login: { email: "demo@stepwell.test", password: /password {2}(\S+)/.exec(output)?.[1] ?? "" },

    /**
     * Passes a connection to its database.
     * @template T
     * @param {(client: pg.Client) => Promise<T>} work
     * @returns {Promise<T>}
     */
    async withDatabase(work) {
      const { url, leave } = await joinPostgres(dataDir);
      const client = new pg.Client({ connectionString: url, application_name: "stepwell bench" });
      await client.connect();
      try {
        return await work(client);
      } finally {
        await client.end();
        await leave();
      }
    },

    async stop() {
      service.kill("SIGINT");
      await once(service, "exit");
      await removeThrowaway(dataDir);
    },
  };
}
