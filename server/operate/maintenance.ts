import { dropUnusedFunctions } from "@/server/base/db/create-functions";
import { grantMonthlyCredits } from "@/server/credits/monthly-grants";
import { pruneRateSegments } from "@/server/guard/limits/rate-limit";
import { countSettledRuns } from "@/server/runs/read/find/count";
import { INDEX_BATCH, indexEndedRuns } from "@/server/runs/read/find/run-index";
import type { Services } from "@/server/services";
import { endOverdueRuns } from "./overdue-runs";
import { removeExpired } from "./retention";
import { exportTraces, TRACE_BATCH } from "./traces/export-traces";

/** Every process runs it; running it twice is harmless, because the rows decide. */
type Job = {
  failure: string;
  everyMs: number;
  /** If the result is `MORE`, it continues immediately. */
  work(shouldContinue: () => boolean): Promise<unknown>;
};

const MORE = Symbol("more");
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

function jobs(services: Services): Job[] {
  const { traces } = services.env;
  return [
    {
      failure: "Could not index ended runs; retrying",
      everyMs: SECOND,
      work: async () => ((await indexEndedRuns(services)) === INDEX_BATCH ? MORE : null),
    },
    ...(traces === undefined
      ? []
      : [
          {
            failure: "Could not read the traces to export; retrying",
            everyMs: SECOND,
            work: async () => ((await exportTraces(services, traces)) === TRACE_BATCH ? MORE : null),
          },
        ]),
    {
      failure: "Could not end overdue runs; retrying in 5 s",
      everyMs: 5 * SECOND,
      work: () => endOverdueRuns(services),
    },
    {
      failure: "Could not prune the rate limits; retrying in 10 s",
      everyMs: 10 * SECOND,
      work: () => pruneRateSegments(services),
    },
    {
      failure: "Could not grant the month's credits; retrying in 1 h",
      everyMs: HOUR,
      work: () => grantMonthlyCredits(services),
    },
    {
      failure: "Could not remove expired data; retrying in 1 h",
      everyMs: HOUR,
      work: (shouldContinue) => removeExpired(services, shouldContinue),
    },
    {
      failure: "Could not count settled runs; retrying in 1 h",
      everyMs: HOUR,
      work: (shouldContinue) => countSettledRuns(services, shouldContinue),
    },
    {
      failure: "Could not drop unused SQL functions; retrying in 1 h",
      everyMs: HOUR,
      work: () => dropUnusedFunctions(services),
    },
  ];
}

/** Starts the recurring jobs of a process, each immediately and then at its interval. Returns a function that stops them. */
export function startMaintenance(services: Services): () => Promise<void> {
  let stopped = false;
  const timers = new Set<NodeJS.Timeout>();
  const working = new Set<Promise<void>>();
  const shouldContinue = () => !stopped;
  for (const job of jobs(services)) {
    const run = async (): Promise<void> => {
      let more = false;
      try {
        more = (await job.work(shouldContinue)) === MORE;
      } catch (error) {
        if (!stopped) services.log.warn(job.failure, { error });
      }
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
