import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { ROOT } from "@/scripts/support/project.mjs";

type Checkout = { env: NodeJS.ProcessEnv; root?: string };

/** Starts the service of the checkout in `root` like `npm start`. Its output is hidden, its errors are not. */
export function startService({ env, root = ROOT }: Checkout): ChildProcess {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  // `exec` replaces the shell, so its process is the service.
  return spawn("sh", ["-c", scripts.start], { cwd: root, env, stdio: ["ignore", "ignore", "inherit"] });
}

/** Waits until the service on a port is ready; false if its process ends first. */
export async function untilReady(child: ChildProcess, port: number): Promise<boolean> {
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  while (isRunning()) {
    const response = await fetch(`http://127.0.0.1:${port}/api/ready`).catch(() => null);
    if (response?.ok) return isRunning();
    await sleep(20);
  }
  return false;
}

type Named = { slug: string; id: string };
/** The output of `apply --json` for an organization that it creates. */
export type AppliedOrganization = {
  slug: string;
  agents: Named[];
  tools: Named[];
  triggers: (Named & { token: string; url: string })[];
  callbacks: Named[];
  apiKeys: { key: string }[];
};

/** Applies a definition file with the checkout's command line. It is written to the data folder of `env`. */
export async function applyDefinitions(
  definitions: string,
  { env, root = ROOT }: Checkout,
): Promise<AppliedOrganization[]> {
  const file = join(env.STEPWELL_DATA_DIR ?? "", `${randomUUID()}.yaml`);
  writeFileSync(file, definitions);
  return JSON.parse(await runStepwell(["apply", file, "--json"], { env, root })).organizations;
}

/** Runs a command with the checkout's command line, and returns its output. */
export async function runStepwell(argv: string[], { env, root = ROOT }: Checkout): Promise<string> {
  const call = ["scripts/stepwell.mjs", ...argv];
  return (await promisify(execFile)(process.execPath, call, { cwd: root, env })).stdout;
}
