import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import type { Demo } from "@/prisma/seed";
import { StartError } from "@/server/base/errors";
import type { Environment } from "@/server/base/settings/env";
import { sleep } from "@/server/base/sleep";
import type { Services } from "@/server/services";
import { STOP_MS } from "./stop";

/** Several processes behind one port (STEPWELL_PROCESSES), each replaced when it ends. */

/** A running service, in this process or in several. */
export type Serving = {
  port: number;
  appUrl: string;
  demo: Demo | null;
  /** Creates the first organization; null if there is one. */
  setUpLink: string | null;
  /**
   * Waits until `/api/ready` answers 200; false if stopped first. `print` gets the missing parts. Of several processes,
   * throws StartError if one ends before any listens.
   */
  untilReady(print: (line: string) => void): Promise<boolean>;
  /** In order: the drain time, no new requests, requests in progress, the engine, the database. */
  stop(): Promise<void>;
};

/** A process that does not end by itself then is killed. */
const KILL_MS = STOP_MS + 1_000;
const REPLACE_AFTER_MS = 1_000;
const READY_POLL_MS = 250;
/** Addresses to listen on that cannot be called. */
const ALL_ADDRESSES = ["0.0.0.0", "::"];

/** Returns true if this process starts others instead of serving itself. */
export function isClusterPrimary({ processes }: Pick<Environment, "processes">): boolean {
  return cluster.isPrimary && processes !== 1;
}

/** Starts the processes; `script` is the program that serves. */
export function servePrimary(
  { env, log }: Pick<Services, "env" | "log">,
  { script, ...announced }: Pick<Serving, "demo" | "setUpLink"> & { script: string },
): Serving {
  const ending = new AbortController();
  cluster.setupPrimary({ exec: script, args: [] });
  /** By worker. A process that replaces another one gets its settings. */
  const settingsOfWorkers = new Map<number, ProcessSettings>();
  const fork = (settings: ProcessSettings) => void settingsOfWorkers.set(cluster.fork(settings).id, settings);
  // On a taken port, another service would answer.
  let isListening = false;
  cluster.on("listening", (_, { port }) => {
    // The metrics have ports of their own.
    if (port === env.port) isListening = true;
  });
  cluster.on("exit", (worker, code, signal) => {
    if (ending.signal.aborted) return;
    if (!isListening) return ending.abort(new StartError(describeFailure(env, signal ?? code)));
    const settings = settingsOfWorkers.get(worker.id) ?? {};
    settingsOfWorkers.delete(worker.id);
    log.error("A process ended; starting another one", { pid: worker.process.pid, code, signal });
    setTimeout(() => ending.signal.aborted || fork(settings), REPLACE_AFTER_MS);
  });
  for (let n = 0; n < env.processes; n += 1) fork(settingsOf(env, n));
  const stop = async () => {
    ending.abort();
    await Promise.all(
      Object.values(cluster.workers ?? {}).map((worker) => worker && stopProcess(worker, env)),
    );
  };
  return {
    port: env.port,
    appUrl: env.appUrl,
    ...announced,
    async untilReady() {
      while (!ending.signal.aborted) {
        if (isListening && (await isReady(env))) return true;
        await sleep(READY_POLL_MS, ending.signal);
      }
      const { reason }: { reason: unknown } = ending.signal;
      if (!(reason instanceof StartError)) return false;
      await stop();
      throw reason;
    },
    stop,
  };
}

function describeFailure({ host, port }: Environment, end: string | number): string {
  return `A process ended (${end}) before one listened on ${host}, port ${port}. Its error is above.`;
}

type ProcessSettings = { STEPWELL_METRICS_PORT?: string };

function settingsOf({ metrics }: Pick<Environment, "metrics">, n: number): ProcessSettings {
  return metrics?.port === undefined ? {} : { STEPWELL_METRICS_PORT: String(metrics.port + n) };
}

async function stopProcess(worker: Worker, { drainMs }: Environment): Promise<void> {
  const { process } = worker;
  if (process.exitCode !== null) return;
  const ended = once(process, "exit");
  process.kill("SIGTERM");
  const timer = setTimeout(() => process.kill("SIGKILL"), drainMs + KILL_MS);
  await ended;
  clearTimeout(timer);
}

async function isReady({ host, port }: Environment): Promise<boolean> {
  const called = ALL_ADDRESSES.includes(host) ? "127.0.0.1" : host;
  const address = called.includes(":") ? `[${called}]` : called;
  const response = await fetch(`http://${address}:${port}/api/ready`).catch(() => null);
  return response?.ok === true;
}
