import type { Engine, Worker } from "./port";
import { WorkerLost } from "./write/writer";

/**
 * Writes with this process's worker. If that worker was replaced because it was silent, the write is repeated once with
 * a new worker. So it must not depend on a certain worker.
 */
export async function withWorker<T>(
  engine: Pick<Engine, "worker">,
  write: (worker: Worker) => Promise<T>,
): Promise<T> {
  try {
    return await write(await engine.worker());
  } catch (error) {
    if (!(error instanceof WorkerLost)) throw error;
    return write(await engine.worker());
  }
}
