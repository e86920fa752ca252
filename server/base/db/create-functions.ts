import type { Client, Pool } from "pg";
import { z } from "zod";
import type { Clock } from "@/server/base/clock";
import { type SqlFunction, sqlFunctions } from "./functions";
import { defineCommand, defineQuery } from "./statement";
import { LOCKS, withAdvisoryLock } from "./transaction";

/** The days for which a function stays after the last process that used it. */
export const DROP_AFTER_DAYS = 7;

const FIND_FUNCTIONS = defineQuery(
  "find-sql-functions",
  z.object({ name: z.string() }),
  "SELECT proname AS name FROM pg_proc WHERE proname = ANY($1) AND pronamespace = current_schema()::regnamespace",
);
const USE_FUNCTIONS = defineCommand(
  "use-sql-functions",
  `INSERT INTO sql_functions (name, used_at) SELECT unnest($1::text[]), coalesce($2, clock_timestamp())
   ON CONFLICT (name) DO UPDATE SET used_at = EXCLUDED.used_at`,
);
const LIST_UNUSED = defineQuery(
  "list-unused-sql-functions",
  z.object({ name: z.string() }),
  `SELECT name FROM sql_functions
   WHERE used_at < coalesce($1, clock_timestamp()) - make_interval(days => $2) AND name <> ALL($3)`,
);
const DELETE_FUNCTION = defineCommand("delete-sql-function", "DELETE FROM sql_functions WHERE name = $1");

/** Creates the functions that the database lacks. The caller holds the lock of migrations. */
export async function createFunctions(client: Client, functions: SqlFunction[]): Promise<void> {
  const names = functions.map(({ name }) => name);
  const present = new Set((await FIND_FUNCTIONS(client, [names])).map(({ name }) => name));
  await client.query("BEGIN");
  for (const { name, text } of functions) if (!present.has(name)) await client.query(text);
  await USE_FUNCTIONS(client, [names, null]);
  await client.query("COMMIT");
}

type Services = { pool: Pool; clock: Clock };

const namesInUse = () => sqlFunctions().map(({ name }) => name);

/** Records that this process uses its functions. Each process does so every hour. */
export async function recordFunctionUse({ pool, clock }: Services): Promise<void> {
  await USE_FUNCTIONS(pool, [namesInUse(), clock.forDatabase()]);
}

/** Records that this process uses its functions, and drops those that no process has used for a week. */
export async function dropUnusedFunctions(services: Services): Promise<string[]> {
  const { pool, clock } = services;
  await recordFunctionUse(services);
  // Not while another process creates its functions.
  const dropped = await withAdvisoryLock(pool, LOCKS.migration, async (client) => {
    const unused = await LIST_UNUSED(client, [clock.forDatabase(), DROP_AFTER_DAYS, namesInUse()]);
    for (const { name } of unused) {
      await client.query(`DROP FUNCTION IF EXISTS ${client.escapeIdentifier(name)}`);
      await DELETE_FUNCTION(client, [name]);
    }
    return unused.map(({ name }) => name);
  });
  return dropped ?? [];
}
