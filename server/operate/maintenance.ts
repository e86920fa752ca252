import type { Services } from "@/server/services";
import { createJobs, type Job } from "./jobs";
import { type JobRecord, storeJobRecord } from "./system/job-records";

// The interval at which executions of a job are stored for the page System, except when it fails or works again.
const STORE_EVERY_MS = 60_000;

/** Starts the recurring jobs of a process, each immediately and then at its interval. Returns a function that stops them. */
export function startMaintenance(services: Services): () => Promise<void> {
  let stopped = false;
  const timers = new Set<NodeJS.Timeout>();
  const working = new Set<Promise<void>>();
  const shouldContinue = () => !stopped;
  for (const job of createJobs(services)) {
    let stored = { at: Number.NEGATIVE_INFINITY, failed: false };
    const store = async (record: JobRecord): Promise<void> => {
      const now = services.clock.monotonicMs();
      if (record.failed === stored.failed && now - stored.at < STORE_EVERY_MS) return;
      stored = { at: now, failed: record.failed };
      // A record is only for the page, so its error is ignored: the next execution stores again.
      await storeJobRecord(services, record).catch(() => {});
    };
    const run = async (): Promise<void> => {
      const { record, more, error } = await executeJob(services, job, shouldContinue);
      if (error !== undefined && !stopped) services.log.warn(job.failure, { error });
      if (record !== null && !stopped) await store(record);
      schedule(more ? 0 : job.everyMs);
    };
    const schedule = (ms: number) => {
      if (stopped) return;
      const timer = setTimeout(() => {
        timers.delete(timer);
        const work = run().finally(() => working.delete(work));
        working.add(work);
      }, ms);
      timer.unref();
      timers.add(timer);
    };
    schedule(0);
  }
  return async () => {
    stopped = true;
    for (const timer of timers) clearTimeout(timer);
    await Promise.all(working);
  };
}

/** Executes a job once, and stores what it did. `busy`: another process executes it. Null: there is no such job. */
export async function executeJobNow(services: Services, name: string): Promise<JobRecord | "busy" | null> {
  const job = createJobs(services).find((each) => each.name === name);
  if (job === undefined) return null;
  const { record, error } = await executeJob(services, job, () => true);
  if (error !== undefined) services.log.warn(job.failure, { error });
  if (record === null) return "busy";
  await storeJobRecord(services, record);
  return record;
}

/** `record` is null if another process executes the job. Never throws. */
async function executeJob(
  services: Pick<Services, "clock">,
  { name, failure, work }: Job,
  shouldContinue: () => boolean,
): Promise<{ record: JobRecord | null; more: boolean; error?: unknown }> {
  const from = services.clock.monotonicMs();
  const recordOf = (text: string, failed: boolean): JobRecord => {
    const tookMs = Math.round(services.clock.monotonicMs() - from);
    return { name, tookMs, failed, text };
  };
  try {
    const done = await work(shouldContinue);
    if (done === null) return { record: null, more: false };
    const { text, more = false, error } = done;
    const failed = error !== undefined;
    return { record: recordOf(failed ? failure : text, failed), more, error };
  } catch (error) {
    return { record: recordOf(failure, true), more: false, error };
  }
}
