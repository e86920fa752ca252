import pg from "pg";
import { migrate } from "@/server/db/migrate";
import type { Services } from "@/server/services";

/**
 * Migrates an empty database, so that `apply` works before the first start. Only the service migrates an existing one:
 * a newer command line must not migrate it under an older running service. `migrations` is the folder
 * prisma/migrations.
 */
export async function prepareDatabase({ env, pool }: Services, migrations: string): Promise<void> {
  const { rows } = await pool.query<{ known: boolean }>(
    "SELECT to_regclass('_prisma_migrations') IS NOT NULL AS known",
  );
  if (rows[0]?.known) return;
  const client = new pg.Client({ connectionString: env.databaseUrl });
  await client.connect();
  try {
    await migrate(client, migrations);
  } finally {
    await client.end();
  }
}
