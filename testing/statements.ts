import { z } from "zod";

const named = z.object({ name: z.string() });

/** The name of the statement that `pool.query` or `client.query` was called with; undefined for an unnamed one. */
export function statementName([statement]: readonly unknown[]): string | undefined {
  return named.safeParse(statement).data?.name;
}
