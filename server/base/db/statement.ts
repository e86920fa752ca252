import { z } from "zod";
import { OPEN_STATUSES } from "@/server/contract/enums";
import type { Transaction } from "./client";
import { withFunctionNames } from "./functions";
import type { Prisma } from "./generated/client";

/**
 * A fixed statement has a name, and PostgreSQL parses it once per connection. A statement that depends on a filter
 * is composed of `Prisma.sql` parts and planned each time. Columns are aliased in camelCase, and a schema parses
 * the rows.
 */

/** An executor of statements: the pool, one of its clients, or a transaction of Prisma (`queryThrough`). */
export type Queryable = {
  query(statement: { name?: string; text: string; values: unknown[] }): Promise<Answer>;
};
type Answer = { rows: unknown[]; rowCount: number | null };

type Reader<Row> = (client: Queryable, values?: unknown[]) => Promise<Row[]>;

/** Defines a statement that returns rows. `values` are its parameters, in order. */
export function defineQuery<Row>(name: string, row: z.ZodType<Row>, text: string): Reader<Row> {
  const answer = z.array(row);
  const named = { name, text: withFunctionNames(text) };
  return async (client, values = []) => answer.parse((await client.query({ ...named, values })).rows);
}

/** Defines a statement without rows. It returns how many rows it changed. */
export function defineCommand(name: string, text: string) {
  const named = { name, text: withFunctionNames(text) };
  return async (client: Queryable, values: unknown[] = []): Promise<number> =>
    (await client.query({ ...named, values })).rowCount ?? 0;
}

export async function select<Row>(
  client: Queryable,
  row: z.ZodType<Row>,
  { text, values }: Prisma.Sql,
): Promise<Row[]> {
  return z.array(row).parse((await client.query({ text: withFunctionNames(text), values })).rows);
}

/** Executes statements in a transaction of Prisma. Numerics arrive as Decimal, and commands report no changed rows. */
export function queryThrough(tx: Transaction): Queryable {
  return {
    async query({ text, values }) {
      const rows = await tx.$queryRawUnsafe<unknown[]>(text, ...values);
      return { rows, rowCount: rows.length };
    },
  };
}

const OPEN_LIST = OPEN_STATUSES.map((status) => `'${status}'`).join(", ");

/**
 * The SQL condition for an open run; `alias` is that of `runs`. It uses literals, because PostgreSQL uses partial
 * indexes only for the condition that they were created with.
 */
export function isOpenSql(alias?: string): string {
  return `${alias === undefined ? "" : `${alias}.`}status IN (${OPEN_LIST})`;
}

/** A time in a row, as ISO 8601. */
export const isoDate = z.date().transform((date) => date.toISOString());
