import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { programOptions } from "./build.mjs";
import { provideDatabase } from "./environment.mjs";
import { DIST, ROOT } from "./support/project.mjs";
import { expectSignal, onShutdown } from "./support/shutdown.mjs";

/**
 * The development server: esbuild watches the process's sources and restarts it after every successful build; Next
 * compiles pages on demand and reloads them.
 * @returns {Promise<undefined>}
 */
export async function develop() {
  await provideDatabase();
  const folder = join(DIST, "dev");
  rmSync(folder, { recursive: true, force: true });
  const { context } = await import("esbuild");

  /** @type {import("node:child_process").ChildProcess | undefined} */
  let child;
  const stop = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  };
  const start = () => {
    child = spawn(process.execPath, ["--enable-source-maps", join(folder, "serve.mjs"), "--dev"], {
      cwd: ROOT,
      env: { ...process.env, NODE_ENV: "development", NEXT_TELEMETRY_DISABLED: "1" },
      stdio: "inherit",
    });
  };

  let turn = Promise.resolve();
  /** @param {import("esbuild").BuildResult} result */
  const startAgain = ({ errors }) => {
    if (errors.length === 0) turn = turn.then(stop).then(start);
  };
  const watcher = await context({
    ...programOptions(folder),
    logLevel: "warning",
    plugins: [{ name: "start-again", setup: (build) => build.onEnd(startAgain) }],
  });
  onShutdown(async () => {
    await watcher.dispose();
    await turn.then(stop);
  });
  await watcher.watch();
  expectSignal();
  return undefined;
}
