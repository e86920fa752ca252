import type { Pool, PoolClient, QueryResultRow } from "pg";
import type { Transaction } from "./client";

/** A pool or one of its clients: whatever can run a statement. */
export type Queryable = Pick<PoolClient, "query">;

/** What hand-written statements need where the caller's transaction may be Prisma's. */
export type Statements = {
  query<Row extends QueryResultRow>(text: string, values: unknown[]): Promise<{ rows: Row[] }>;
};

/** Runs hand-written statements inside a Prisma transaction. Numerics arrive as Decimal, not as text. */
export function queryThrough(tx: Transaction): Statements {
  return {
    async query<Row extends QueryResultRow>(text: string, values: unknown[]) {
      return { rows: await tx.$queryRawUnsafe<Row[]>(text, ...values) };
    },
  };
}

/** Runs `work` in one transaction on one connection; rolls back when it throws. */
export async function transact<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = false;
  try {
    await client.query("BEGIN");
    const result = await work(client);
    await client.query("COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {
      broken = true;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Whether an error is PostgreSQL's of a violated foreign key, by the constraint's name. */
export function isForeignKeyViolation(error: unknown, constraint: string): boolean {
  return isViolation(error, "23503", constraint);
}

/** PostgreSQL's code for a violated unique constraint, with the constraint's name. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return isViolation(error, "23505", constraint);
}

function isViolation(error: unknown, code: string, constraint: string): boolean {
  return (
    typeof error === "object" &&
    error !== null &&
    "code" in error &&
    error.code === code &&
    "constraint" in error &&
    error.constraint === constraint
  );
}
