import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { OwnPostgres } from "./own-postgres";

// Below node_modules, so that what is not bundled is found from there.
const BUNDLE = fileURLToPath(
  new URL("../../node_modules/.cache/stepwell/engine-worker.mjs", import.meta.url),
);

/** Bundles worker.ts, once per test file. */
export async function bundleWorker(): Promise<void> {
  await mkdir(fileURLToPath(new URL(".", `file://${BUNDLE}`)), { recursive: true });
  await build({
    entryPoints: [fileURLToPath(new URL("./worker.ts", import.meta.url))],
    outfile: BUNDLE,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "error",
  });
}

export type WorkerProcess = {
  /** SIGKILL: no time for last words. Resolves once it is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  terminate(): Promise<number | null>;
  signal(name: "SIGSTOP" | "SIGCONT"): void;
  alive(): boolean;
};

/** Starts a process with the engine; resolves when it claims jobs. */
export async function startWorker(
  postgres: OwnPostgres,
  options: { name: string; leaseMs: number; pollMs: number },
): Promise<WorkerProcess> {
  const child: ChildProcess = spawn(
    process.execPath,
    [BUNDLE, JSON.stringify({ connection: postgres.connection, ...options })],
    { stdio: ["ignore", "pipe", process.env.ENGINE_TEST_LOG ? "inherit" : "ignore"] },
  );
  const gone = once(child, "exit");
  if (child.stdout === null) throw new Error("The worker has no standard output.");
  await Promise.race([
    once(child.stdout, "data"),
    gone.then(([code]) => {
      throw new Error(`The worker ended with ${code} before it started.`);
    }),
  ]);
  return {
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
    async terminate() {
      child.kill("SIGTERM");
      await gone;
      return child.exitCode;
    },
    signal: (name) => child.kill(name),
    alive: () => child.exitCode === null && child.signalCode === null,
  };
}
