import { once } from "node:events";
import type { Worker } from "node:worker_threads";
import { afterEach, expect, it, vi } from "vitest";
import { z } from "zod";
import { ThreadPool, threadOf } from "./thread-pool";

afterEach(() => void vi.useRealTimers());

it("ends idle threads, and replaces the last one by a small one that is ready", async () => {
  const started: Worker[] = [];
  const note = (worker: Worker) => void started.push(worker);
  process.on("worker", note);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const pool = new ThreadPool({
      source: threadOf(`() => () => require("node:worker_threads").threadId`),
      workerData: () => null,
      memoryMb: 16,
      value: z.number(),
    });
    const ask = (organizationId: string) => pool.ask(null, { timeoutMs: 10_000, organizationId });
    await Promise.all([ask("one"), ask("two")]);
    expect(started).toHaveLength(2);

    const ended = started.map((worker) => once(worker, "exit"));
    const another = once(process, "worker");
    vi.advanceTimersByTime(60_000);
    await another;
    const [, , fresh] = started;
    if (fresh === undefined) throw new Error("no thread was started");
    await Promise.all([...ended, once(fresh, "message")]);
    vi.advanceTimersByTime(600_000);
    expect(await ask("one")).toEqual({ value: fresh.threadId });
    expect(started).toHaveLength(3);
    await fresh.terminate();
  } finally {
    process.off("worker", note);
  }
});
