import { dropUnusedFunctions } from "@/server/base/db/create-functions";
import { raiseLowCredits } from "@/server/catalog/callbacks/send/raise-low-credits";
import { grantMonthlyCredits } from "@/server/credits/monthly-grants";
import { pruneRateSegments } from "@/server/guard/limits/rate-limit";
import { countSettledRuns } from "@/server/runs/read/find/count";
import { INDEX_BATCH, indexEndedRuns } from "@/server/runs/read/find/run-index";
import type { Services } from "@/server/services";
import { endOverdueRuns } from "./overdue-runs";
import { type Removed, removeExpired } from "./retention";
import { sampleDatabase } from "./system/database-size";
import { sampleQueue } from "./system/queue-history";
import { exportTraces, TRACE_BATCH } from "./traces/export-traces";

/**
 * `text`: what it did. With `more`, it continues immediately. `error`: a part of it failed. Null: another process does
 * it.
 */
type Done = { text: string; more?: boolean; error?: unknown } | null;

/** Every process runs it; running it twice is harmless, because the rows decide. */
export type Job = {
  name: string;
  title: string;
  failure: string;
  everyMs: number;
  work(shouldContinue: () => boolean): Promise<Done>;
};

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const NOTHING = "Nothing to do";
const counted = (count: number, what: string): string => (count === 0 ? NOTHING : `${count} ${what}`);

export function createJobs(services: Services): Job[] {
  const { traces } = services.env;
  return [
    {
      name: "index_runs",
      title: "Index ended runs",
      failure: "Could not index ended runs; retrying",
      everyMs: SECOND,
      async work() {
        const runs = await indexEndedRuns(services);
        return { text: counted(runs, "runs"), more: runs === INDEX_BATCH };
      },
    },
    ...(traces === undefined
      ? []
      : [
          {
            name: "export_traces",
            title: "Export traces",
            failure: "Could not read the traces to export; retrying",
            everyMs: SECOND,
            async work(shouldContinue: () => boolean) {
              const runs = await exportTraces(services, traces, shouldContinue);
              return { text: counted(runs, "runs"), more: runs === TRACE_BATCH };
            },
          },
        ]),
    {
      name: "end_overdue_runs",
      title: "End overdue runs",
      failure: "Could not end overdue runs; retrying in 5 s",
      everyMs: 5 * SECOND,
      work: async () => ({ text: counted(await endOverdueRuns(services), "runs") }),
    },
    {
      name: "watch_credits",
      title: "Watch for low credits",
      failure: "Could not look for low credits; retrying in 5 s",
      everyMs: 5 * SECOND,
      // Sums the holds of all open runs of an organization with few credits: too much for each turn of the callbacks.
      async work() {
        return {
          text: counted(await raiseLowCredits(services.pool, [services.clock.forDatabase()]), "events"),
        };
      },
    },
    {
      name: "prune_rate_limits",
      title: "Prune the rate limits",
      failure: "Could not prune the rate limits; retrying in 10 s",
      everyMs: 10 * SECOND,
      async work() {
        await pruneRateSegments(services);
        return { text: "Done" };
      },
    },
    {
      name: "sample_queue",
      title: "Sample the queue",
      failure: "Could not sample the queue; retrying in 1 min",
      everyMs: MINUTE,
      async work() {
        await sampleQueue(services);
        return { text: "Done" };
      },
    },
    {
      name: "sample_database",
      title: "Sample the size of the database",
      failure: "Could not sample the size of the database; retrying in 1 h",
      everyMs: HOUR,
      async work() {
        await sampleDatabase(services);
        return { text: "Done" };
      },
    },
    {
      name: "grant_credits",
      title: "Grant the month's credits",
      failure: "Could not grant the month's credits; retrying in 1 h",
      everyMs: HOUR,
      async work(shouldContinue) {
        return { text: counted(await grantMonthlyCredits(services, shouldContinue), "organizations") };
      },
    },
    {
      name: "remove_expired",
      title: "Remove expired data",
      failure: "Could not remove expired data; retrying in 1 h",
      everyMs: HOUR,
      async work(shouldContinue) {
        const removed = await removeExpired(services, shouldContinue);
        if (removed === null) return null;
        const { more, errors } = removed;
        return { text: describeRemoved(removed), more, error: errors[0] };
      },
    },
    {
      name: "count_runs",
      title: "Count ended runs",
      failure: "Could not count ended runs; retrying in 1 h",
      everyMs: HOUR,
      async work(shouldContinue) {
        const ranges = await countSettledRuns(services, shouldContinue);
        return ranges === null ? null : { text: counted(ranges, "ranges of time") };
      },
    },
    {
      name: "drop_functions",
      title: "Drop unused SQL functions",
      failure: "Could not drop unused SQL functions; retrying in 1 h",
      everyMs: HOUR,
      work: async () => ({ text: counted((await dropUnusedFunctions(services)).length, "functions") }),
    },
  ];
}

/** `runs: 41, idempotency keys: 3`. */
function describeRemoved({ rows: removed }: Removed): string {
  const parts = Object.entries(removed)
    .filter(([, rows]) => rows > 0)
    .map(([kind, rows]) => `${kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}: ${rows}`);
  return parts.length === 0 ? NOTHING : parts.join(", ");
}
