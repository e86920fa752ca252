import { z } from "zod";
import { defineCommand, defineQuery, isoDate } from "@/server/base/db/statement";
import type { Services } from "@/server/services";

/** The last execution of a maintenance job. `text`: what it did, or that it failed. */
export type JobRecord = { name: string; tookMs: number; failed: boolean; text: string };

const STORE = defineCommand(
  "store-maintenance-job",
  `INSERT INTO maintenance_jobs (name, finished_at, took_ms, failed, result)
   VALUES ($1, coalesce($2, clock_timestamp()), $3, $4, $5)
   ON CONFLICT (name) DO UPDATE SET finished_at = EXCLUDED.finished_at, took_ms = EXCLUDED.took_ms,
     failed = EXCLUDED.failed, result = EXCLUDED.result`,
);

const LIST = defineQuery(
  "list-maintenance-jobs",
  z.object({
    name: z.string(),
    finishedAt: isoDate,
    tookMs: z.number(),
    failed: z.boolean(),
    text: z.string(),
  }),
  `SELECT name, finished_at AS "finishedAt", took_ms AS "tookMs", failed, result AS text FROM maintenance_jobs`,
);

export async function storeJobRecord(
  { pool, clock }: Pick<Services, "pool" | "clock">,
  { name, tookMs, failed, text }: JobRecord,
): Promise<void> {
  await STORE(pool, [name, clock.forDatabase(), tookMs, failed, text]);
}

/** The last execution of each job that was ever executed, by any process. */
export async function readJobRecords({ pool }: Pick<Services, "pool">) {
  return new Map((await LIST(pool)).map((record) => [record.name, record]));
}
