import { z } from "zod";
import { defineCommand, defineQuery, isoDate } from "@/server/base/db/statement";
import { measureQueue } from "@/server/runs/engine/queue-depth";
import type { Services } from "@/server/services";
import { countSlots, listProcesses } from "./processes";

/** The history of the queue: one row a minute for a day, written by whichever process is first. */

const ADD = defineCommand(
  "add-queue-sample",
  `INSERT INTO queue_samples (at, waiting, slots_used)
   VALUES (date_trunc('minute', coalesce($1::timestamptz, clock_timestamp())), $2, $3) ON CONFLICT DO NOTHING`,
);
const REMOVE = defineCommand(
  "remove-queue-samples",
  "DELETE FROM queue_samples WHERE at < coalesce($1::timestamptz, clock_timestamp()) - interval '1 day'",
);
const LAST_HOUR = defineQuery(
  "list-queue-samples",
  z.object({ at: isoDate, waiting: z.number() }),
  `SELECT at, waiting FROM queue_samples
   WHERE at > coalesce($1::timestamptz, clock_timestamp()) - interval '1 hour' ORDER BY at`,
);
const MOST_SLOTS = defineQuery(
  "most-slots-used",
  z.object({ most: z.number().nullable() }),
  "SELECT max(slots_used) AS most FROM queue_samples",
);

/** Stores how many runs wait and execute at this minute. */
export async function sampleQueue(services: Pick<Services, "pool" | "clock">): Promise<void> {
  const { pool, clock } = services;
  const waiting = (await measureQueue(services)).reduce((sum, { runs }) => sum + runs, 0);
  const { used } = countSlots(await listProcesses(services));
  await ADD(pool, [clock.forDatabase(), waiting, used]);
  await REMOVE(pool, [clock.forDatabase()]);
}

/** The waiting runs by minute of the last hour, and the most slots that were in use in a day; null if not known yet. */
export async function readQueueHistory({ pool, clock }: Pick<Services, "pool" | "clock">) {
  const [minutes, [most]] = await Promise.all([LAST_HOUR(pool, [clock.forDatabase()]), MOST_SLOTS(pool)]);
  return { minutes, mostSlots: most?.most ?? null };
}
