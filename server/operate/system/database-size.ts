import { z } from "zod";
import { DAY_MS } from "@/server/base/clock";
import { defineCommand, defineQuery, isoDate, type Queryable } from "@/server/base/db/statement";
import { readBriefly } from "@/server/base/db/transaction";
import { tryParseJson } from "@/server/base/json/json";
import type { Services } from "@/server/services";
import { KEPT } from "../retention";

/** The size of the database and its tables, and how fast they grow. */

// PostgreSQL reads the sizes of files. It waits only for a migration, which locks tables.
const PATIENCE_MS = 3_000;
const COMPARED_DAYS = 7;

const READ_TOTAL = defineQuery(
  "database-size",
  z.object({ bytes: z.number() }),
  "SELECT pg_database_size(current_database())::float8 AS bytes",
);
const READ_TABLES = defineQuery(
  "table-sizes",
  z.object({ name: z.string(), bytes: z.number() }),
  `SELECT relname AS name, pg_total_relation_size(oid)::float8 AS bytes FROM pg_class
   WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace ORDER BY bytes DESC, name`,
);
const ADD = defineCommand(
  "add-database-sample",
  `INSERT INTO database_samples (day, taken_at, bytes, tables)
   SELECT (at AT TIME ZONE 'UTC')::date, at, $2, $3 FROM (SELECT coalesce($1::timestamptz, clock_timestamp()) AS at) now
   ON CONFLICT DO NOTHING`,
);
const REMOVE = defineCommand(
  "remove-database-samples",
  "DELETE FROM database_samples WHERE day < (coalesce($1::timestamptz, clock_timestamp()) - interval '400 days')::date",
);
/** The oldest of the last days, which is the one to compare with. */
const FIND_SAMPLE = defineQuery(
  "find-database-sample",
  z.object({ at: isoDate, bytes: z.number(), tables: z.string() }),
  `SELECT taken_at AS at, bytes::float8 AS bytes, tables FROM database_samples
   WHERE day >= (coalesce($1::timestamptz, clock_timestamp()) AT TIME ZONE 'UTC')::date - $2::int ORDER BY day LIMIT 1`,
);
const READ_RETENTION = defineQuery(
  "read-retention",
  z.object({ least: z.number().nullable(), most: z.number().nullable() }),
  "SELECT min(retention_days) AS least, max(retention_days) AS most FROM plans",
);

const sampledTables = z.record(z.string(), z.number());

async function readSizes(client: Queryable) {
  const [total] = await READ_TOTAL(client);
  return { bytes: total?.bytes ?? 0, tables: await READ_TABLES(client) };
}

/** Stores the sizes once a day, for 400 days. */
export async function sampleDatabase({ pool, clock }: Pick<Services, "pool" | "clock">): Promise<void> {
  const { bytes, tables } = await readBriefly(pool, PATIENCE_MS, readSizes);
  const byName = JSON.stringify(Object.fromEntries(tables.map((table) => [table.name, table.bytes])));
  await ADD(pool, [clock.forDatabase(), bytes, byName]);
  await REMOVE(pool, [clock.forDatabase()]);
}

export type TableSize = {
  name: string;
  bytes: number;
  /** Null: not known before the second day. */
  bytesPerDay: number | null;
  kept: "plan" | "always" | null;
};

/** The sizes now, and their growth since the oldest sample of the last week. `retentionDays`: of the plans, null without one. */
export async function readDatabaseSize({ pool, clock }: Pick<Services, "pool" | "clock">) {
  const { bytes, tables, sample, retention } = await readBriefly(pool, PATIENCE_MS, async (client) => {
    const [sample] = await FIND_SAMPLE(client, [clock.forDatabase(), COMPARED_DAYS]);
    const [retention] = await READ_RETENTION(client);
    return { ...(await readSizes(client)), sample, retention };
  });
  const days = sample === undefined ? 0 : (clock.now().getTime() - Date.parse(sample.at)) / DAY_MS;
  const before = sampledTables.safeParse(tryParseJson(sample?.tables ?? "")).data ?? {};
  const perDay = (now: number, earlier: number) => (days < 1 ? null : (now - earlier) / days);
  return {
    bytes,
    bytesPerDay: perDay(bytes, sample?.bytes ?? bytes),
    tables: tables.map(
      ({ name, bytes }): TableSize => ({
        name,
        bytes,
        bytesPerDay: perDay(bytes, before[name] ?? 0),
        kept: KEPT[name] ?? null,
      }),
    ),
    retentionDays:
      retention?.least == null || retention.most === null
        ? null
        : { least: retention.least, most: retention.most },
  };
}
