import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import path from "node:path";
import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";
import { z } from "zod";
import { FairQueue } from "@/server/base/scheduling/fair-queue";

// `npm start` gives the main thread a large young generation. Each thread here would get one as well.
setFlagsFromString("--max-semi-space-size=0");

type ThreadPoolOptions<Value> = {
  /**
   * CommonJS. Posts "ready" once, then exactly one `{value}` or `{issue}` per message. A string, because the
   * bundles of esbuild and Next have no second entry point for a thread.
   */
  source: string;
  workerData: () => unknown;
  /** A thread whose JavaScript heap exceeds this ends without affecting others. */
  memoryMb: number;
  value: z.ZodType<Value>;
};

type ThreadRequest = { timeoutMs: number; organizationId: string; signal?: AbortSignal | undefined };

/** `limit` is in words, such as "within 500 ms". */
type ThreadAnswer<Value> =
  | { value: Value }
  | { issue: string }
  | { exceeded: "time" | "memory"; limit: string };

/** The source of a thread for a function: `create` is the source of a function of `workerData` that returns it. */
export const threadOf = (create: string): string => `
"use strict";
const { parentPort, workerData } = require("node:worker_threads");
const work = (${create})(workerData);
parentPort.on("message", (request) => {
  try {
    parentPort.postMessage({ value: work(request) });
  } catch (error) {
    parentPort.postMessage({ issue: String(error?.message ?? error).slice(0, 500) });
  }
});
parentPort.postMessage("ready");
`;

const THREADS = 4;
// Other organizations always find a free thread.
const THREADS_EACH = Math.max(1, Math.min(THREADS, availableParallelism()) - 1);
const RESERVED = 1;
// An idle thread ends after this time, because it keeps the memory that its largest work needed. The last one is
// replaced: to start a thread takes longer than most of its work.
const IDLE_MS = 60_000;
const START_TIMEOUT_MS = 30_000;

/** The path of a file in an installed package; `file` is an import specifier. */
export function resolveInstalled(file: string): string {
  try {
    return createRequire(import.meta.url).resolve(file);
  } catch {
    // Next moves modules, so import.meta.url may not resolve; the working directory is the project's.
    return createRequire(path.join(process.cwd(), "package.json")).resolve(file);
  }
}

export function readInstalled(file: string): string {
  return readFileSync(resolveInstalled(file), "utf8");
}

/**
 * Threads for work that may never end. They start on demand and end when idle, except one; organizations are served in
 * turn. A thread that times out is terminated and replaced.
 */
export class ThreadPool<Value> {
  readonly #options: ThreadPoolOptions<Value>;
  readonly #answer: z.ZodType<{ value: Value } | { issue: string }>;
  readonly #threads = new Set<Worker>();
  /** With the timers that end them; one without a timer was not used yet. The most recently used thread is last. */
  readonly #idle = new Map<Worker, NodeJS.Timeout | undefined>();
  readonly #queue = new FairQueue(THREADS, THREADS_EACH, { reserved: RESERVED });
  #workerData: unknown;

  constructor(options: ThreadPoolOptions<Value>) {
    this.#options = options;
    this.#answer = z.union([z.object({ value: options.value }), z.object({ issue: z.string() })]);
  }

  /**
   * The time limit starts when a thread takes the request. A request whose signal was aborted by then is not sent.
   * Throws the signal's reason.
   */
  ask(request: unknown, { timeoutMs, organizationId, signal }: ThreadRequest): Promise<ThreadAnswer<Value>> {
    const work = async (): Promise<ThreadAnswer<Value>> => {
      try {
        const worker = this.#takeIdle() ?? (await this.#start());
        // It keeps the process alive only while it works.
        worker.ref();
        const message = await nextMessage(worker, timeoutMs, () => worker.postMessage(request));
        worker.unref();
        this.#keepIdle(worker);
        return this.#answer.parse(message);
      } catch (error) {
        if (!(error instanceof ThreadEnded)) throw error;
        const { exceeded } = error;
        const limit =
          exceeded === "time" ? `within ${timeoutMs} ms` : `with ${this.#options.memoryMb} MB of memory`;
        return { exceeded, limit };
      }
    };
    return this.#queue.take(organizationId, work, signal);
  }

  #keepIdle(worker: Worker): void {
    const end = () => {
      this.#idle.delete(worker);
      this.#threads.delete(worker);
      void worker.terminate();
      if (this.#threads.size === 0) void this.#replace().catch(() => {});
    };
    this.#idle.set(worker, setTimeout(end, IDLE_MS).unref());
  }

  async #replace(): Promise<void> {
    const worker = await this.#start();
    worker.unref();
    this.#idle.set(worker, undefined);
  }

  #takeIdle(): Worker | undefined {
    const worker = [...this.#idle.keys()].at(-1);
    if (worker === undefined) return;
    clearTimeout(this.#idle.get(worker));
    this.#idle.delete(worker);
    return worker;
  }

  async #start(): Promise<Worker> {
    const { source, workerData, memoryMb } = this.#options;
    this.#workerData ??= workerData();
    const worker = new Worker(source, {
      eval: true,
      workerData: this.#workerData,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    // Without a listener, an error of a terminating thread would end the process.
    worker.on("error", () => {});
    this.#threads.add(worker);
    worker.on("exit", () => {
      this.#threads.delete(worker);
      this.#idle.delete(worker);
    });
    await nextMessage(worker, START_TIMEOUT_MS);
    return worker;
  }
}

class ThreadEnded extends Error {
  readonly exceeded: "time" | "memory";

  constructor(exceeded: ThreadEnded["exceeded"]) {
    super(`The thread gave no answer: ${exceeded}.`);
    this.exceeded = exceeded;
  }
}

/** A thread that ends or times out is terminated. Throws ThreadEnded. */
function nextMessage(worker: Worker, timeoutMs: number, prompt?: () => void): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const stopListening = () => {
      clearTimeout(timer);
      worker.off("message", onMessage).off("error", onEnd).off("exit", onEnd);
    };
    const fail = (exceeded: ThreadEnded["exceeded"]) => {
      stopListening();
      void worker.terminate();
      reject(new ThreadEnded(exceeded));
    };
    const onMessage = (message: unknown) => {
      stopListening();
      resolve(message);
    };
    const onEnd = () => fail("memory");
    const timer = setTimeout(() => fail("time"), timeoutMs);
    worker.on("message", onMessage).on("error", onEnd).on("exit", onEnd);
    prompt?.();
  });
}
