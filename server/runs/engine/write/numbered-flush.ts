import type pg from "pg";
import { z } from "zod";
import { connect, TIMEOUTS } from "@/server/base/db/client";
import { defineCommand, defineQuery, type Queryable } from "@/server/base/db/statement";
import { pauseAt } from "@/server/base/pause-points";

/**
 * The statements of a lane (docs/engine-details.md, "Numbered flushes"). After a lost connection, the lane reads
 * the answer of a committed flush or sends it again under a new number. The database then rejects the old number.
 */

export type LaneName = "accounts" | "journal";

type FlushNumber = { workerId: string; lane: LaneName; flush: number };

const FLUSH = defineQuery(
  "flush-writes",
  z.object({ answer: z.string().nullable() }),
  "SELECT flush_writes($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) AS answer",
);

/** Sends a flush and returns its answer. `values`: the parameters of `flush_writes` after the flush's number. */
export async function sendFlush(
  client: pg.Client,
  { workerId, lane, flush }: FlushNumber,
  values: unknown[],
): Promise<string | null> {
  const answered = FLUSH(withSilenceLimit(client), [workerId, lane, flush, ...values]);
  await pauseAt(`${lane}:sent`);
  const [row] = await answered;
  return row?.answer ?? null;
}

/**
 * A connection for flushes. They read tables by key only, so plans are made once: look-ups in indexes, whatever the
 * statistics say.
 */
export async function connectLane(databaseUrl: string): Promise<pg.Client> {
  const client = await connect(databaseUrl);
  try {
    await client.query(
      "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off",
    );
    return client;
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
}

type FlushOutcome = { committed: false } | { committed: true; answer: string | null };
export const NOT_COMMITTED: FlushOutcome = { committed: false };

// Stored as the answer of a number that was used up.
const SKIPPED = "skipped";
const USE_UP = defineCommand(
  "use-up-flush",
  "UPDATE worker_lanes SET flush = $3, answer = $4 WHERE worker_id = $1 AND lane = $2 AND flush = $3 - 1",
);
const READ_LANE = defineQuery(
  "read-lane",
  z.object({ flush: z.coerce.number(), answer: z.string().nullable() }),
  "SELECT flush, answer FROM worker_lanes WHERE worker_id = $1 AND lane = $2",
);

/**
 * Finds out if a flush whose answer was lost was committed. If not, its number is used up. Null if the worker's row is
 * gone.
 */
export async function readOutcome(
  client: pg.Client,
  { workerId, lane, flush }: FlushNumber,
): Promise<FlushOutcome | null> {
  await USE_UP(withSilenceLimit(client), [workerId, lane, flush, SKIPPED]);
  const [row] = await READ_LANE(withSilenceLimit(client), [workerId, lane]);
  if (row === undefined) return null;
  if (row.flush !== flush) throw new Error(`lane ${lane} is at flush ${row.flush}, not ${flush}`);
  return row.answer === SKIPPED ? NOT_COMMITTED : { committed: true, answer: row.answer };
}

// Breaks if the server is silent for longer than any statement may take.
function withSilenceLimit(client: pg.Client): Queryable {
  return {
    async query(statement) {
      const silence = setTimeout(() => {
        client.connection.stream.destroy(
          Object.assign(new Error("The database does not answer."), { code: "ETIMEDOUT" }),
        );
      }, TIMEOUTS.silence);
      try {
        return await client.query(statement);
      } finally {
        clearTimeout(silence);
      }
    },
  };
}
