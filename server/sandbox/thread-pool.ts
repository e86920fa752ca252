import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import path from "node:path";
import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";
import { FairQueue } from "@/server/limits/fair-queue";

// `npm start` gives the main thread a large young generation. Each thread here would get one as well.
setFlagsFromString("--max-semi-space-size=0");

/** A thread did not answer: it timed out or ended (out of memory, for example). */
export class ThreadError extends Error {
  override name = "ThreadError";
  readonly reason: "timeout" | "failed";

  constructor(reason: ThreadError["reason"]) {
    super(`The thread gave no answer: ${reason}.`);
    this.reason = reason;
  }
}

export type ThreadPoolOptions = {
  /**
   * CommonJS source of a thread. It posts "ready" once, then exactly one message per message received. A string,
   * because the bundles of esbuild and Next have no second entry point for a thread.
   */
  source: string;
  /** Passed to each thread as `workerData`; called when the first thread starts. */
  workerData: () => unknown;
  /** A thread whose JavaScript heap exceeds this ends without affecting others. */
  memoryMb: number;
};

export type ThreadRequest = { timeoutMs: number; organizationId: string; signal?: AbortSignal };

/** They start on demand. More than one organization may use at once, so that another one finds a free thread. */
const THREADS = 4;
const THREADS_EACH = Math.max(1, Math.min(THREADS, availableParallelism()) - 1);
/** A thread without work ends after this time, because it keeps the memory that its largest work needed. */
const IDLE_MS = 60_000;
/** How long a thread may take to start on a busy machine. */
const START_TIMEOUT_MS = 30_000;

/** The path of a file in an installed package; `file` is an import specifier. */
export function resolveInstalled(file: string): string {
  // Next moves modules, so import.meta.url may not resolve; the working directory is the project's.
  const bases = [import.meta.url, path.join(process.cwd(), "package.json")];
  let failure: unknown;
  for (const base of bases) {
    try {
      return createRequire(base).resolve(file);
    } catch (error) {
      failure = error;
    }
  }
  throw new Error(`${file} is not installed.`, { cause: failure });
}

/** The text of a file in an installed package. */
export function readInstalled(file: string): string {
  return readFileSync(resolveInstalled(file), "utf8");
}

/**
 * Threads for work that may never end. They start on demand, end when idle and handle one request at a time;
 * organizations are served in turn. A thread that times out is terminated and replaced.
 */
export class ThreadPool {
  readonly #options: ThreadPoolOptions;
  /** With the timers that end them; the one that worked last comes last. */
  readonly #idle = new Map<Worker, NodeJS.Timeout>();
  readonly #queue = new FairQueue(THREADS, THREADS_EACH);
  #workerData: unknown;

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
  }

  /**
   * Sends a request to a thread and returns its response. The time limit begins when a thread takes it; a request whose
   * signal was aborted by then is not sent. Throws ThreadError and the signal's reason.
   */
  ask(request: unknown, { timeoutMs, organizationId, signal }: ThreadRequest): Promise<unknown> {
    const answer = async () => {
      const worker = this.#takeIdle() ?? (await this.#start());
      // It keeps the process alive only while it works.
      worker.ref();
      const response = await nextMessage(worker, timeoutMs, () => worker.postMessage(request));
      worker.unref();
      this.#keepIdle(worker);
      return response;
    };
    return this.#queue.take(organizationId, answer, signal);
  }

  #keepIdle(worker: Worker): void {
    const end = () => {
      this.#idle.delete(worker);
      void worker.terminate();
    };
    this.#idle.set(worker, setTimeout(end, IDLE_MS).unref());
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
    worker.on("exit", () => this.#idle.delete(worker));
    await nextMessage(worker, START_TIMEOUT_MS);
    return worker;
  }
}

/** The next message of a thread; one that ends or times out is terminated. Throws ThreadError. */
function nextMessage(worker: Worker, timeoutMs: number, prompt?: () => void): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const stopListening = () => {
      clearTimeout(timer);
      worker.off("message", onMessage).off("error", onEnd).off("exit", onEnd);
    };
    const fail = (reason: ThreadError["reason"]) => {
      stopListening();
      void worker.terminate();
      reject(new ThreadError(reason));
    };
    const onMessage = (message: unknown) => {
      stopListening();
      resolve(message);
    };
    const onEnd = () => fail("failed");
    const timer = setTimeout(() => fail("timeout"), timeoutMs);
    worker.on("message", onMessage).on("error", onEnd).on("exit", onEnd);
    prompt?.();
  });
}
