import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect } from "vitest";
import { ensureBuild } from "@/scripts/build.mjs";
import { freePort } from "@/scripts/support/ports.mjs";
import type { World } from "../world";

export type BuiltProcess = {
  origin: string;
  child: ChildProcess;
  exited: Promise<unknown>;
  /** Standard output so far. */
  printed: () => string;
};

/**
 * Starts processes of the built service without pages on a world's database, and kills them after each test. Call
 * it at the top of the file.
 */
export function builtService(getWorld: () => World) {
  let program: string;
  const started = new Set<ChildProcess>();
  const kill = async (child: ChildProcess): Promise<void> => {
    started.delete(child);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  afterEach(async () => {
    for (const child of started) await kill(child);
  });
  return {
    kill,
    async build(): Promise<void> {
      ({ serve: program } = await ensureBuild({ pages: false }));
    },
    async start({
      env = {},
      flags = [],
      quiet = false,
    }: {
      env?: Record<string, string>;
      flags?: string[];
      quiet?: boolean;
    } = {}): Promise<BuiltProcess> {
      const port = await freePort();
      const origin = `http://127.0.0.1:${port}`;
      const child = spawn(process.execPath, [...flags, program], {
        env: {
          PATH: process.env.PATH,
          NODE_ENV: "production",
          PORT: String(port),
          APP_URL: origin,
          DATABASE_URL: getWorld().env.databaseUrl,
          STEPWELL_SECRET: "test-secret-test-secret-test-secret",
          STEPWELL_ENV_FILE: "",
          STEPWELL_ROLE: "worker",
          LOG_LEVEL: "error",
          ...env,
        },
        stdio: ["ignore", "pipe", quiet ? "ignore" : "inherit"],
      });
      started.add(child);
      let text = "";
      child.stdout?.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      return { origin, child, exited: once(child, "exit"), printed: () => text };
    },
  };
}

export async function untilReady({ origin }: BuiltProcess): Promise<void> {
  const isReady = async () => (await fetch(`${origin}/api/ready`).catch(() => null))?.ok;
  await expect.poll(isReady, { timeout: 60_000, interval: 100 }).toBe(true);
}

export async function startOverRest(
  { origin }: Pick<BuiltProcess, "origin">,
  path: `tools/run/${string}` | `agents/run/${string}`,
  { key, body }: { key: string; body: string },
): Promise<string> {
  const response = await fetch(`${origin}/v1/${path}`, {
    method: "POST",
    headers: { "X-API-Key": key, "Content-Type": "application/json" },
    body,
  });
  expect(response.status).toBe(200);
  return (await response.json()).id;
}
